"""What a record says of the machine and of the sources."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def gpu_state():
    """Of GPU 0, as nvidia-smi tells it: name, driver, clocks in MHz, why they are low, W, degrees Celsius."""
    try:
        keys = "name,driver_version,clocks.sm,clocks.mem,clocks_event_reasons.active,power.draw,temperature.gpu"
        return subprocess.run(["nvidia-smi", f"--query-gpu={keys}", "--format=csv,noheader", "-i", "0"], check=True,
                              capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def commit():
    """Of the sources; RIDGE_COMMIT says it where there is no repository."""
    if "RIDGE_COMMIT" in os.environ:
        return os.environ["RIDGE_COMMIT"]
    try:
        return subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
