// Leads a puppeteer page that holds one visualizer: waits for its frames, and finds things by the names that views log.
const sleep = ms => new Promise(done => setTimeout(done, ms));

export function driver(page) {
  const counts = () => page.evaluate(() => document.querySelector('canvas').visualizer.counts);
  const until = (what, ...more) => page.waitForFunction(what, { timeout: 30000 }, ...more);
  const shown = () => until(() => {
    const drawn = document.querySelector('canvas')?.visualizer;
    return drawn?.state === 'shown' && drawn.counts.frames > 0;
  });
  const items = () => page.evaluate(() => document.querySelector('canvas').visualizer.layout());
  // Until no frame has come for a while.
  async function settle() {
    for (let before = -1, now = (await counts()).frames; before !== now; now = (await counts()).frames) { before = now; await sleep(300); }
  }
  // In pixels of the page.
  async function place(name) {
    const all = await items(), item = all.findLast(i => i.name === name && ('x0' in i || 'x' in i));
    if (!item) throw new Error(`nothing is called '${name}': ${all.map(i => i.name).join(', ').slice(0, 400)}`);
    const [left, top] = await page.$eval('canvas', e => { const box = e.getBoundingClientRect(); return [box.left, box.top]; });
    return 'x0' in item ? [left + (item.x0 + item.x1) / 2, top + (item.y0 + item.y1) / 2] : [left + item.x, top + item.y];
  }
  async function click(name) { await page.mouse.click(...await place(name)); await settle(); }
  return { counts, until, shown, items, settle, place, click };
}
