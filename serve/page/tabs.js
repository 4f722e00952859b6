// Which tabs of this browser are open, so that none takes the unsaved text of another. Each tab holds a lock with its name
// as long as it lives; a tab that was duplicated finds its name taken, and gets another one.
const PREFIX = "ridge-tab:";
const stored = () => { try { return sessionStorage.getItem("ridge-tab"); } catch { return null; } };
const fresh = () => globalThis.crypto?.randomUUID?.() ?? String(Math.random());
const locks = globalThis.navigator?.locks; // in a secure context alone: 127.0.0.1, or https

let name = stored() ?? fresh();
export const tabName = () => name;

const take = wanted => new Promise(done => {
  locks.request(PREFIX + wanted, { ifAvailable: true }, lock => {
    done(lock !== null);
    return lock && new Promise(() => {}); // held until the tab ends
  }).catch(() => done(true));
});

// Called once, before a draft is looked for. A reload may still hold the lock of the page that it replaces.
export async function claimTab() {
  if (locks) {
    for (let tries = 0; !await take(name); ++tries) {
      if (tries < 3) await new Promise(done => setTimeout(done, 100));
      else name = fresh();
    }
  }
  try { sessionStorage.setItem("ridge-tab", name); } catch { /* only for this visit then */ }
}

// The names of all open tabs; null where the browser does not tell.
export async function openTabs() {
  if (!locks) return null;
  const { held } = await locks.query();
  return new Set(held.filter(l => l.name.startsWith(PREFIX)).map(l => l.name.slice(PREFIX.length)));
}
