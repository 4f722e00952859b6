// A student's way through lab 01 in headless Chromium: a slow answer and its finding, a wrong one, code that does not
// compile, a hint, full marks; a check that is stopped; two tabs; a server that ends and comes back.
//
//   node check_page.mjs SOURCE_DIR BUILD_DIR
//
// RIDGE_PICTURES=DIR leaves pictures there. Exit codes: 0 right, 1 wrong, 77 a Chromium or npm's registry is missing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { impostor, portal } from './browser.mjs';
import { browser, check, chord, code, file, judge, look, mine, open, put, run, saved, server, shown, source, until } from './page_tools.mjs';

await run(async () => {
  let url = await server.start();
  let page = await open(url);
  check('the lesson', (await page.$eval('#r-lesson', e => e.innerText)).includes('memory coalescing'));
  check('its figures', await page.$$eval('#r-lesson img', all => all.length >= 5 && all.every(i => i.complete ? i.naturalWidth > 0 : true)));
  check('the stub', (await code(page)).includes('TASK(copy)'));
  await look(page, 'start');

  // ---- a prediction, then slow, as the stub is
  await page.click('.CodeMirror');
  await chord(page, 'Control', 'Enter');
  check('the first check asks for a prediction', await page.evaluate(() => document.activeElement.dataset.prediction === 'copy-sectors'));
  await page.keyboard.type('many');
  await page.keyboard.press('Enter');
  await until(page, () => document.getElementById('r-predict-problem').textContent !== '');
  check('what is no number is asked again', await page.$eval('#r-stop', e => e.hidden));
  for (let i = 0; i < 4; ++i) await page.keyboard.press('Backspace');
  await page.keyboard.type('4x');
  await look(page, 'predict');
  await judge(page);
  check('predicted and measured', (await shown(page)).includes('4 predicted, 8 x the ideal measured: ratio 0.5'), await shown(page));
  check('the goal is missed', (await shown(page)).includes('8 x (goal 1.02)'), await shown(page));
  const note = await page.$eval('.ridge-note', e => e.textContent).catch(() => '');
  check('the finding is on its line', note.includes('sectors'), note);
  check('and leads to it', await page.evaluate(() => {
    document.querySelector('#r-shown .place').click();
    return document.querySelector('.CodeMirror').CodeMirror.getLine(document.querySelector('.CodeMirror').CodeMirror.getCursor().line).includes('out[i] = in[i]');
  }));
  await look(page, 'slow');

  // ---- wrong, typed by keyboard
  await page.keyboard.press('End');
  for (let i = 0; i < 'in[i];'.length; ++i) await page.keyboard.press('Backspace');
  await page.keyboard.type('in[i] + 1;');
  await saved(page);
  check('the typed text is saved', readFileSync(mine, 'utf8').includes('out[i] = in[i] + 1;'));
  await judge(page);
  check('the answer is wrong', (await shown(page)).includes('✗ correct'), await shown(page));
  check('the first wrong element', /\[0\]|element|expected/i.test(await shown(page)), await shown(page));
  await look(page, 'wrong');

  // ---- no C++
  await put(page, (await code(page)).replace('in[i] + 1;', 'in[i] + nothing;'));
  await judge(page);
  check('it does not compile', (await shown(page)).includes('It did not compile'));
  check('the message is on its line', (await page.$eval('.ridge-note', e => e.textContent).catch(() => '')).includes('nothing'));
  await look(page, 'build');

  // ---- an input method: what is composed is shown, and what is chosen is saved once
  const ime = await page.createCDPSession();
  await page.click('.CodeMirror');
  await page.$eval('.CodeMirror', e => { e.CodeMirror.setCursor({ line: 0, ch: e.CodeMirror.getLine(0).length }); });
  await page.keyboard.type(' ');
  for (const text of ['に', 'にほ', 'にほん']) await ime.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  await new Promise(done => setTimeout(done, 800)); // longer than the pause before a save
  check('a composition is in the editor', (await page.$eval('.CodeMirror-code', e => e.innerText)).includes('にほん'));
  await ime.send('Input.insertText', { text: '日本' });
  await page.keyboard.type('!');
  await until(page, () => document.querySelector('.CodeMirror').CodeMirror.getLine(0).endsWith('日本!'));
  await saved(page);
  check('what an input method has chosen is saved once', readFileSync(mine, 'utf8').split('\n')[0].endsWith(' 日本!') && !readFileSync(mine, 'utf8').includes('に'), readFileSync(mine, 'utf8').split('\n')[0]);

  // ---- a hint, then the right answer
  await page.keyboard.press('F2');
  await until(page, () => document.querySelectorAll('[aria-label="Hints taken"] li').length === 1);
  check('one hint', true);
  await put(page, readFileSync(join(source, 'solutions', '01_coalescing', 'copy.cu'), 'utf8'));
  await judge(page);
  check('full marks', (await shown(page)).includes('full marks') && (await shown(page)).includes('15 / 15'), await shown(page));
  check('no note is left', (await page.$$('.ridge-note')).length === 0);
  await look(page, 'full');

  // ---- the instructions of a line, where a compiler can make them
  const stand = word => page.$eval('.CodeMirror', (e, t) => { const cm = e.CodeMirror; cm.setCursor({ line: cm.getValue().split('\n').findIndex(l => l.includes(t)), ch: 0 }); }, word);
  await stand('reinterpret_cast<float4*>(out)[i]');
  await page.click('#r-code summary');
  await until(page, () => document.querySelector('#r-code p').hidden || /Toolkit|clang/.test(document.querySelector('#r-code p').textContent));
  const head = await page.$eval('#r-code summary', e => e.textContent), listed = await page.$eval('#r-code pre', e => e.textContent);
  if (/^Instructions/.test(head)) console.log(`skipped: instructions: ${await page.$eval('#r-code p', e => e.textContent)}`);
  else check('the instructions of the line', /^(PTX|SASS) of line 14: \d+ instructions \(/.test(head) && /^\/\/ copy_kernel\n.*(ld\.global|LDG)/s.test(listed), `${head}\n${listed}`);
  await look(page, 'code');
  await stand('#include');
  await until(page, () => /line 5/.test(document.querySelector('#r-code summary').textContent));
  check('a line without instructions says so', /no instruction/.test(await page.$eval('#r-code p', e => e.textContent)) || /^Instructions/.test(head));
  await page.click('#r-code summary');

  // ---- a check that is stopped
  await chord(page, 'Control', 'Shift', 'Enter');
  await until(page, () => !document.getElementById('r-stop').hidden);
  await chord(page, 'Control', '.');
  await until(page, () => document.getElementById('r-stop').hidden);
  check('a check stops', (await shown(page)).includes('stopped'), await shown(page));

  // ---- keyboard alone
  await page.click('.CodeMirror');
  await page.keyboard.press('F6');
  check('F6 leads to the result', await page.evaluate(() => document.activeElement.id === 'r-shown'), await page.evaluate(() => document.activeElement.outerHTML.slice(0, 80)));
  await page.keyboard.press('F6');
  await page.keyboard.press('F6');
  check('and back to the editor', await page.evaluate(() => !!document.activeElement.closest('.CodeMirror')));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  check('Esc and Tab leave the editor', await page.evaluate(() => !document.activeElement.closest('.CodeMirror')));

  // ---- another editor, and a second tab
  const outside = readFileSync(mine, 'utf8').replace('// TASK(copy)', '// by another editor\n// TASK(copy)');
  writeFileSync(mine, outside);
  await until(page, text => document.querySelector('.CodeMirror').CodeMirror.getValue() === text, outside);
  check('what another editor saves is shown', true);
  const second = await open(url);
  await second.click('[data-task="copy"]'); // it has opened the next task
  await second.evaluate(() => { document.querySelector('.CodeMirror').CodeMirror.replaceRange('// second\n', { line: 0, ch: 0 }); });
  await saved(second);
  await page.bringToFront();
  await until(page, () => document.querySelector('.CodeMirror').CodeMirror.getLine(0) === '// second');
  check('a second tab is seen', true);
  // Both have unsaved text: the later one is asked.
  await page.evaluate(() => { document.querySelector('.CodeMirror').CodeMirror.replaceRange('// first tab\n', { line: 0, ch: 0 }); });
  writeFileSync(mine, `// outside at the same time\n${outside}`);
  await until(page, () => !document.getElementById('r-conflict').hidden);
  check('nothing is overwritten unseen', readFileSync(mine, 'utf8').startsWith('// outside at the same time'));
  await look(page, 'conflict');
  await page.click('#r-mine');
  await saved(page);
  check('this tab\'s text stays', readFileSync(mine, 'utf8').startsWith('// first tab'));
  await page.evaluate(() => { const cm = document.querySelector('.CodeMirror').CodeMirror; cm.undo(); });
  check('undo has the other text', (await code(page)).startsWith('// outside at the same time'), (await code(page)).slice(0, 80));
  await page.evaluate(() => { document.querySelector('.CodeMirror').CodeMirror.redo(); });
  await saved(page);
  await second.close();

  // ---- the server is killed in mid-check, and comes back
  const port = server.port;
  await chord(page, 'Control', 'Shift', 'Enter');
  await until(page, () => !document.getElementById('r-stop').hidden);
  await server.end('SIGKILL');
  await page.evaluate(() => { document.querySelector('.CodeMirror').CodeMirror.replaceRange('// while it was away\n', { line: 0, ch: 0 }); });
  await until(page, () => /not saved.*does not answer/.test(document.getElementById('r-failed').innerText));
  check('the tab says that it is not saved', true);
  await look(page, 'away');
  check('the file is whole', readFileSync(mine, 'utf8').startsWith('// first tab'));
  const oldToken = new URL(url).pathname.split('/')[1], stranger = await impostor(port);
  await page.evaluate(() => { document.querySelector('.CodeMirror').CodeMirror.replaceRange('// for nobody else\n', { line: 0, ch: 0 }); });
  await until(page, () => /another program listens/.test(document.getElementById('r-failed').innerText));
  await new Promise(done => setTimeout(done, 4000)); // a save is tried every 3 s
  check('another program at the port is asked who it is', stranger.heard.length > 1 && stranger.heard.every(r => /^GET \/prove\?question=[0-9a-f]{32}$/.test(`${r.method} ${r.url}`)), JSON.stringify(stranger.heard));
  check('and is told neither the token nor a text', stranger.heard.every(r => r.body === '' && !JSON.stringify(r).includes(oldToken)));
  await stranger.end();
  await page.evaluate(() => { document.querySelector('.CodeMirror').CodeMirror.undo(); });
  url = await server.start(['--port', port]);
  await until(page, () => /at another address/.test(document.getElementById('r-failed').innerText));
  check('the tab says that the address is another one', true);
  await page.close({ runBeforeUnload: false });
  page = await open(url);
  await page.click('[data-task="copy"]');
  check('the new page saves the text of the old one', await file('// while it was away'));
  // ---- drafts: of a tab that is gone, of another person, of a tab that is open
  const draft = (tab, text, owner) => page.evaluate(async (name, line, whose) => {
    const { owner: own } = await (await fetch('api/labs')).json(), now = document.querySelector('.CodeMirror').CodeMirror.getValue();
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(now)), base = [...new Uint8Array(hash)].map(b => b.toString(16).padStart(2, '0')).join('');
    localStorage.setItem(`ridge-draft:${whose ?? own}:01_coalescing/copy.cu:${name}`, JSON.stringify({ base, text: `${line}\n${now}`, time: Date.now() - 60000 }));
  }, tab, text, owner);
  await draft('a-tab-of-theirs', '// of another person', '0'.repeat(32));
  await draft(await page.evaluate(() => sessionStorage.getItem('ridge-tab')), '// of the tab that is open');
  const other = await open(url);
  await other.click('[data-task="copy"]');
  await new Promise(done => setTimeout(done, 1500));
  check('a tab takes no draft of one that is open', !(await code(other)).includes('of the tab that is open'));
  await other.close();
  await page.evaluate(() => { for (const key of Object.keys(localStorage)) if (key.endsWith(sessionStorage.getItem('ridge-tab'))) localStorage.removeItem(key); });
  await draft('a-tab-that-is-gone', '// of a closed tab');
  await page.close();
  page = await open(url);
  check('the draft of a closed tab is saved', await file('// of a closed tab'));
  check('and that of another person is left alone', await page.evaluate(() => Object.keys(localStorage).some(key => key.endsWith('a-tab-of-theirs'))) && !readFileSync(mine, 'utf8').includes('another person'));
  // A duplicated tab has its twin's session storage.
  const name = await page.evaluate(() => sessionStorage.getItem('ridge-tab')), twin = await browser.newPage();
  await twin.evaluateOnNewDocument(given => sessionStorage.setItem('ridge-tab', given), name);
  await twin.goto(url, { waitUntil: 'load' });
  await until(twin, () => document.querySelector('#r-lesson h1') && document.querySelector('#r-shown h2'));
  check('a duplicated tab gets a name of its own', await twin.evaluate(() => sessionStorage.getItem('ridge-tab')) !== name);
  await twin.close();
  check('no check seems to run', await page.$eval('#r-stop', e => e.hidden));
  check('Ctrl-C ends it', await server.end() === 0);
  await page.close();

  // ---- behind a portal, below a path
  const outer = await portal('/rnode/node1/8765/');
  const token = new URL(await server.start(['--host', `http://ondemand.test:${outer.port}`])).pathname;
  outer.to = server.port;
  page = await open(`http://ondemand.test:${outer.port}/rnode/node1/8765${token}`);
  check('the portal shows the figures', await page.$$eval('#r-lesson img', all => all.length >= 5 && all.every(i => !i.complete || i.naturalWidth > 0)));
  await page.click('[data-task="copy"]');
  await page.click('.CodeMirror');
  await page.evaluate(() => { document.querySelector('.CodeMirror').CodeMirror.replaceRange('// by the portal\n', { line: 0, ch: 0 }); });
  await judge(page);
  check('and saves, and checks', (await shown(page)).includes('full marks') && await file('// by the portal'), await shown(page));
  outer.end();
});
