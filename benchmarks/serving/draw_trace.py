"""Draws trace.txt: python3 benchmarks/serving/draw_trace.py > benchmarks/serving/trace.txt

512 requests, 100 a second on average: 64 at three times this rate, then 64 at 0.6 of it, and so on. One prompt in sixteen is long;
a third of the others begin with the same 64 tokens. Most answers are short.
"""
import math
import random


def main():
    draw = random.Random(15)
    rates = [300 if i // 64 % 2 == 0 else 60 for i in range(512)]
    now = 0.0
    print("# Seconds of the arrival, tokens of the prompt and of the answer, first tokens that such prompts have in common.")
    print("# Made by draw_trace.py.")
    for rate in rates:
        now += draw.expovariate(rate)
        long = draw.random() < 1 / 16
        prompt = draw.randint(400, 800) if long else min(300, 8 + int(math.exp(draw.gauss(4.2, 0.7))))
        answer = 1 + min(220, int(draw.expovariate(1 / 80)))
        common = 64 if not long and draw.random() < 1 / 3 else 0
        print(f"{now:.6f} {prompt + common} {answer} {common}")


if __name__ == "__main__":
    main()
