// The tabs of the right column. A panel is drawn when it is chosen.
const at = id => document.getElementById(`r-${id}`);
const PANELS = { result: "shown", attempts: "attempts", quiz: "quiz" };

// `draw`: by panel, what draws it.
export class Panels {
  constructor(draw) {
    this.draw = draw;
    this.chosen = "result";
    const names = Object.keys(PANELS);
    for (const [i, name] of names.entries()) {
      at(`tab-${name}`).addEventListener("click", () => this.choose(name));
      at(`tab-${name}`).addEventListener("keydown", e => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!by) return;
        const next = names[(i + by + names.length) % names.length];
        this.choose(next);
        at(`tab-${next}`).focus();
      });
    }
  }

  get panel() { return at(PANELS[this.chosen]); }

  choose(name) {
    this.chosen = name;
    for (const [other, panel] of Object.entries(PANELS)) {
      at(`tab-${other}`).setAttribute("aria-selected", String(other === name));
      at(`tab-${other}`).tabIndex = other === name ? 0 : -1;
      at(panel).hidden = other !== name;
    }
    this.draw[name]?.();
  }

  // What is shown has changed.
  refresh() { this.draw[this.chosen]?.(); }
}
