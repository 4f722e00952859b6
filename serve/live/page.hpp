// The leaderboard's page. It follows /api/events, and writes names as text, never as markup.
#pragma once

namespace ridge::live {

inline constexpr const char* kPage = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ridge live</title>
<link rel="stylesheet" href="/style.css">
<script src="/board.js" defer></script>
</head>
<body>
<main>
<h1>Ridge live</h1>
<p id="state" role="status">Waiting for the first result</p>
<table id="teams" hidden>
<caption>Teams: for each task the best of a team's members counts</caption>
<thead><tr><th scope="col">#</th><th scope="col">Team</th><th scope="col">Points</th><th scope="col">Members</th></tr></thead>
<tbody id="team-rows"></tbody>
</table>
<table>
<caption>Practice results, as each laptop reports them</caption>
<thead id="head"></thead>
<tbody id="rows"></tbody>
</table>
</main>
</body>
</html>
)html";

inline constexpr const char* kStyle = R"css(:root { color-scheme: light dark; --line: #8884; --bar: #2a78d6; }
body { font: 1.15rem/1.4 system-ui, sans-serif; margin: 0; padding: 1rem; }
main { max-width: 70rem; margin: auto; }
h1 { font-size: 1.8rem; margin: 0; }
table { width: 100%; border-collapse: collapse; }
caption { text-align: left; padding: .4rem 0; opacity: .75; font-size: .95rem; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: right; font-variant-numeric: tabular-nums; }
th:nth-child(2), td:nth-child(2) { text-align: left; width: 40%; overflow-wrap: anywhere; }
th.team, td.team { text-align: left; overflow-wrap: anywhere; }
#teams { margin-bottom: 1.5rem; }
td.points { font-weight: 600; }
@media (max-width: 40rem) { .lab { display: none; } }
)css";

inline constexpr const char* kScript = R"js("use strict";
const head = document.getElementById("head"), rows = document.getElementById("rows"), state = document.getElementById("state");
const teams = document.getElementById("teams"), teamRows = document.getElementById("team-rows");
function cell(kind, text, name) {
  const c = document.createElement(kind);
  c.textContent = text;
  if (kind === "th") c.scope = "col";
  if (name) c.className = name;
  return c;
}
function show(board) {
  const ranked = board.teams ?? [];
  teams.hidden = ranked.length === 0;
  teamRows.replaceChildren(...ranked.map((t, i) => {
    const row = document.createElement("tr");
    row.append(cell("td", String(i + 1)), cell("td", t.name), cell("td", t.points.toFixed(0), "points"), cell("td", String(t.members)));
    return row;
  }));
  const top = document.createElement("tr");
  top.append(cell("th", "#"), cell("th", "Name"));
  if (ranked.length > 0) top.append(cell("th", "Team", "team"));
  top.append(cell("th", "Points"));
  for (const lab of board.labs) top.append(cell("th", lab.slice(0, 2), "lab"));
  head.replaceChildren(top);
  rows.replaceChildren(...board.players.map((p, i) => {
    const row = document.createElement("tr");
    row.append(cell("td", String(i + 1)), cell("td", p.name));
    if (ranked.length > 0) row.append(cell("td", p.team, "team"));
    row.append(cell("td", p.points.toFixed(0), "points"));
    for (const lab of board.labs) row.append(cell("td", lab in p.labs ? p.labs[lab].toFixed(0) : "", "lab"));
    return row;
  }));
  state.textContent = board.players.length === 0 ? "Waiting for the first result" : board.players.length + " taking part";
}
const events = new EventSource("/api/events");
events.addEventListener("board", e => show(JSON.parse(e.data)));
events.onerror = () => {
  state.textContent = "The collector does not answer; trying again";
  if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000); // it was refused: too many follow
};
)js";

}  // namespace ridge::live
