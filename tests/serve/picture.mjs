// The README's picture: the page of lab 01 as a student first sees a finding, light and dark.
//
//   node picture.mjs SOURCE_DIR BUILD_DIR OUT_DIR    writes serve_light.png and serve_dark.png
import { join } from 'node:path';
import { check, judge, open, run, server, shown } from './page_tools.mjs';

const out = process.argv[4];
await run(async () => {
  const page = await open(await server.start());
  await page.click('[data-task="copy"]');
  await page.evaluate(() => { const cm = document.querySelector('.CodeMirror').CodeMirror; cm.focus(); cm.setCursor({ line: 11, ch: 0 }); });
  await judge(page);
  check('a finding', (await shown(page)).includes('8 x (goal 1.02)'));
  await page.evaluate(() => { document.activeElement.blur(); document.getElementById('r-step').textContent = ''; document.querySelector('.CodeMirror').CodeMirror.scrollTo(0, 0); }); // no time, which differs from run to run
  await page.setViewport({ width: 1280, height: 720, deviceScaleFactor: 1 });
  for (const theme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    await page.screenshot({ path: join(out, `serve_${theme}.png`) });
  }
});
