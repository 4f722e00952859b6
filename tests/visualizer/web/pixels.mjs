// Two pictures, compared by the browser that is here anyway.
import { readFileSync } from 'node:fs';

// Resolves to { different, mean }: the part of pixels of which a channel differs by more than 16 of 255, and the mean of the
// largest difference of each pixel. `edge`: pixels at the border that are left out.
export async function compare(page, first, second, edge = 0) {
  const pictures = [first, second].map(file => readFileSync(file).toString('base64'));
  return page.evaluate(async ([a, b], border) => {
    const pixels = async base64 => {
      const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height), context = canvas.getContext('2d');
      context.drawImage(bitmap, 0, 0);
      return context.getImageData(0, 0, bitmap.width, bitmap.height);
    };
    const one = await pixels(a), two = await pixels(b);
    if (one.width !== two.width || one.height !== two.height) return { different: 1, mean: 255 };
    let different = 0, sum = 0;
    for (let y = border; y < one.height - border; ++y)
      for (let x = border; x < one.width - border; ++x) {
        let most = 0;
        for (let i = 4 * (y * one.width + x), end = i + 3; i < end; ++i) most = Math.max(most, Math.abs(one.data[i] - two.data[i]));
        different += most > 16;
        sum += most;
      }
    return { different: different / (one.width * one.height), mean: sum / (one.width * one.height) };
  }, pictures, edge);
}
