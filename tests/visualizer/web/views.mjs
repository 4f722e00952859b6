// What each view shows in the tests of the page, and in its measurements.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export function viewsOf(source) {
  const of = (...names) => names.map(name => join(source, name));
  const story = join(source, 'visualizer', 'stories', '01_transpose', '01_coalescing');
  return {
    roofline: of('benchmarks/h200/04_tensor_core.steps.json', 'benchmarks/h200/calibration.json'),
    timeline: of('benchmarks/visualizer/torch_ddp.0.json.gz', 'benchmarks/visualizer/torch_ddp.1.json.gz'),
    warp: [join(story, readdirSync(story).filter(name => name.endsWith('.warp.json')).sort()[0])],
    progress: ['--view', 'progress', join(source, 'visualizer', 'stories', '01_transpose')],
  };
}
