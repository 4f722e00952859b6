// What a student does on the page beside checking, in headless Chromium: other labs, attempts and their differences, the
// way back to the text that was judged, the quiz.
//
//   node check_study.mjs SOURCE_DIR BUILD_DIR
//
// RIDGE_PICTURES=DIR leaves pictures there. Exit codes: 0 right, 1 wrong, 77 a Chromium or npm's registry is missing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, code, judge, look, mine, open, put, run, saved, server, shown, source, until } from './page_tools.mjs';

const solution = (lab, file) => readFileSync(join(source, 'solutions', lab, file), 'utf8');
const chooseLab = (page, lab) => page.select('#r-lab', lab);
const isOpen = (page, title) => until(page, t => document.querySelector('#r-lesson h1').textContent.includes(t), title);

await run(async () => {
  const url = await server.start();
  const page = await open(url);
  await page.click('[data-task="copy"]');

  // ---- the labs: none is left with an unsaved text, and no two are mixed
  const before = readFileSync(mine, 'utf8');
  await page.evaluate(() => { document.querySelector('.CodeMirror').CodeMirror.replaceRange('// mine\n', { line: 0, ch: 0 }); });
  writeFileSync(mine, `// theirs\n${before}`);
  await until(page, () => !document.getElementById('r-conflict').hidden);
  await chooseLab(page, '03_warp_shuffle');
  await until(page, () => document.getElementById('r-shown').innerText.includes('stays open'));
  check('a lab with a text that is not saved stays open', await page.$eval('#r-lab', e => e.value) === '01_coalescing' && (await code(page)).startsWith('// mine'));
  await page.click('#r-mine');
  await saved(page);
  let slow = null; // answers on lab 03 come late
  await page.setRequestInterception(true);
  page.on('request', request => {
    if (request.url().includes('/03_warp_shuffle') && slow === null) slow = [];
    if (request.url().includes('/03_warp_shuffle') && slow) slow.push(request);
    else request.continue();
  });
  await chooseLab(page, '03_warp_shuffle');
  while (!slow) await new Promise(done => setTimeout(done, 20));
  await chooseLab(page, '02_tiling');
  await isOpen(page, 'iling');
  const late = slow;
  slow = false;
  for (const request of late) request.continue();
  await new Promise(done => setTimeout(done, 500));
  check('a lab that comes late is not shown', await page.$eval('#r-lab', e => e.value) === '02_tiling' && /Tiling/i.test(await page.$eval('#r-lesson h1', e => e.textContent))
    && await page.evaluate(() => new URL(location.href).searchParams.get('lab') === '02_tiling'));
  page.removeAllListeners('request');
  await page.setRequestInterception(false);
  await chooseLab(page, '01_coalescing');
  await isOpen(page, 'oalescing');
  await page.click('[data-task="copy"]');

  // ---- attempts
  await put(page, before);
  await judge(page); // asks for a prediction first
  await put(page, solution('01_coalescing', 'copy.cu'));
  await judge(page);
  check('full marks', (await shown(page)).includes('full marks'), await shown(page));
  await put(page, (await code(page)).replace('// TASK(copy)', '// TASK(copy)\n// a change that leads nowhere'));
  await saved(page);
  await page.click('#r-tab-attempts');
  await until(page, () => document.querySelectorAll('#r-attempts .diff .added').length === 1);
  check('what changed since the last check', (await page.$eval('#r-attempts .diff .added', e => e.textContent)).includes('a change that leads nowhere'));
  const way = await page.$eval('#r-attempts svg', e => [...e.querySelectorAll('circle')].length).catch(() => 0);
  check('two points under the roofline', way === 2, way);
  await page.evaluate(() => { const all = document.querySelectorAll('#r-attempts details'); all[1].open = true; });
  await until(page, () => document.querySelectorAll('#r-attempts details')[1].querySelectorAll('.diff .removed').length > 0);
  check('what changed between two attempts', true);
  await look(page, 'attempts');
  await page.click('#r-back');
  await until(page, text => document.querySelector('.CodeMirror').CodeMirror.getValue() === text, solution('01_coalescing', 'copy.cu'));
  check('back to the text of the last check', true);
  await page.evaluate(() => document.querySelector('.CodeMirror').CodeMirror.undo());
  check('which undo takes back', (await code(page)).includes('leads nowhere'));
  await saved(page);

  // ---- the quiz, by keyboard
  await page.focus('#r-tab-attempts');
  await page.keyboard.press('ArrowRight');
  await until(page, () => document.querySelectorAll('#r-quiz form').length >= 8);
  check('the arrow leads to the quiz', await page.evaluate(() => document.activeElement.id === 'r-tab-quiz'));
  const number = await page.$('#r-quiz form input[type=text]');
  await number.focus();
  await page.keyboard.type('many');
  await page.keyboard.press('Enter');
  const told = () => number.evaluate(e => e.closest('form').querySelector('[role=status]').innerText);
  await until(page, e => e.closest('form').querySelector('[role=status]').innerText !== '', number);
  check('what is no answer is asked again', !/Right|No\./.test(await told()), await told());
  for (let i = 0; i < 4; ++i) await page.keyboard.press('Backspace');
  await page.keyboard.type('123456');
  await page.keyboard.press('Enter');
  await until(page, e => e.closest('form').querySelector('[role=status]').innerText.startsWith('No.'), number);
  check('a wrong answer comes with its reason', (await told()).length > 10, await told());
  await page.click('#r-quiz form input[type=radio]');
  await page.$eval('#r-quiz form input[type=radio]', e => e.closest('form').requestSubmit());
  await until(page, () => [...document.querySelectorAll('#r-quiz [role=status]')].filter(e => /^(Right|No)\./.test(e.innerText)).length === 2);
  check('a choice is marked', true);
  await look(page, 'quiz');

  // ---- labs 03 and 06
  for (const [lab, title] of [['03_warp_shuffle', 'huffle'], ['06_ring_allreduce', 'ring all']]) {
    await chooseLab(page, lab);
    await isOpen(page, title);
    const first = await page.evaluate(() => document.querySelector('#r-files [aria-pressed="true"]').textContent);
    check(`lab ${lab.slice(0, 2)} opens with its stub`, (await code(page)).includes('TASK('));
    await judge(page);
    check('the stub is not passed', (await shown(page)).includes('not passed yet'), await shown(page));
    await put(page, solution(lab, first));
    await judge(page);
    check(`its solution has full marks (${first})`, (await shown(page)).includes('full marks'), await shown(page));
    await look(page, `lab_${lab.slice(0, 2)}`);
  }
  await page.close();
});
