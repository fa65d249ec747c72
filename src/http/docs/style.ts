/** The look of the documentation page: light or dark as the reader's system is, and from phones to wide screens. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #fff; --panel: #f5f7fa; --line: #dfe4ec; --text: #1a2130; --soft: #566075; --accent: #2f47c2;
  --get: #0a6349; --get-tint: #dff4ec; --post: #2547b5; --post-tint: #e4eaff; --put: #66389b; --put-tint: #f0e7fb;
  --patch: #7a4a00; --patch-tint: #fcefd5; --delete: #a3213a; --delete-tint: #fde6ea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10141b; --panel: #181e28; --line: #2b3442; --text: #e3e8f0; --soft: #9ca8bb; --accent: #a3b4ff;
    --get: #7fdcb9; --get-tint: #12362b; --post: #adbfff; --post-tint: #1d2a56; --put: #d3b6f7; --put-tint: #35234f;
    --patch: #f3c77a; --patch-tint: #402e0d; --delete: #ff9fae; --delete-tint: #4a1722;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
a { color: var(--accent); text-underline-offset: 0.15em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
h1, h2, h3, h4 { line-height: 1.25; margin: 0; text-wrap: balance; }
h1 { font-size: 1.6rem; letter-spacing: -0.02em; }
h2 { font-size: 1.6rem; letter-spacing: -0.015em; }
h3 { font-size: 1.25rem; }
h4 { font-size: 0.95rem; margin: 1.75rem 0 0.5rem; }
p { margin: 0.6rem 0; max-width: 46rem; }
code, pre, var { font-family: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
code, var { font-size: 0.875em; font-style: normal; overflow-wrap: break-word; }
code var, .note code { font-size: 1em; }
p code, td > code, li code { background: var(--panel); border-radius: 4px; padding: 0.1em 0.3em; }
.skip { position: absolute; left: -999rem; padding: 0.5rem 1rem; background: var(--page); }
.skip:focus { left: 1rem; top: 1rem; z-index: 1; }

header { padding: 1.5rem 1.25rem 0; }
header p { margin: 0.25rem 0 0; color: var(--soft); font-size: 0.9rem; }
nav { padding: 1rem 1.25rem; border-bottom: 1px solid var(--line); font-size: 0.9rem; }
nav p, nav ul { margin: 0; padding: 0; list-style: none; }
nav p { margin-top: 1rem; font-weight: 600; }
nav p a { color: inherit; text-decoration: none; }
nav li a {
  display: flex; align-items: baseline; gap: 0.5rem; margin: 0 -0.5rem; padding: 0.25rem 0.5rem;
  border-radius: 6px; color: var(--text); text-decoration: none; line-height: 1.4;
}
nav li a:hover { background: var(--panel); }
nav p a:hover { text-decoration: underline; }

main { padding: 0 1.25rem 4rem; min-width: 0; }
main > section { padding-top: 2.5rem; }
article { padding: 2rem 0; border-top: 1px solid var(--line); }
section > h2 + article, section > h2 + p + article { margin-top: 1.5rem; }
.lead { color: var(--soft); }
.address { margin: 0.5rem 0 1rem; max-width: none; }
.address var { color: var(--accent); }
.callers { color: var(--soft); font-size: 0.9rem; }
.method {
  flex: none; display: inline-block; min-width: 4rem; padding: 0.1rem 0.35rem; border-radius: 4px;
  font-size: 0.7rem; font-weight: 700; letter-spacing: 0.04em; text-align: center; line-height: 1.5;
}
.get { color: var(--get); background: var(--get-tint); }
.post { color: var(--post); background: var(--post-tint); }
.put { color: var(--put); background: var(--put-tint); }
.patch { color: var(--patch); background: var(--patch-tint); }
.delete { color: var(--delete); background: var(--delete-tint); }
.status { font-variant-numeric: tabular-nums; }

.columns > * { min-width: 0; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; min-width: 26rem; font-size: 0.875rem; line-height: 1.5; }
th, td { padding: 0.5rem 0.75rem; text-align: left; vertical-align: top; }
thead th { background: var(--panel); color: var(--soft); font-weight: 600; font-size: 0.8rem; }
tbody tr { border-top: 1px solid var(--line); }
tbody th { font-weight: 600; }
.fields th:first-child { width: 32%; }
.fields td:nth-child(2) { width: 28%; }
.note { display: block; color: var(--soft); font-size: 0.8rem; font-weight: 400; }
.note em { color: var(--delete); font-style: normal; }
figure { margin: 1rem 0 0; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); }
figcaption {
  padding: 0.35rem 0.75rem; border-bottom: 1px solid var(--line);
  color: var(--soft); font-size: 0.8rem; font-weight: 600;
}
pre { margin: 0; padding: 0.75rem; overflow-x: auto; font-size: 0.78rem; line-height: 1.6; }
pre code { font-size: inherit; overflow-wrap: normal; }
footer { padding: 1.5rem 1.25rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.9rem; }

@media (min-width: 60rem) {
  .layout { display: grid; grid-template-columns: 18rem minmax(0, 1fr); }
  .side { border-right: 1px solid var(--line); position: sticky; top: 0; height: 100vh; overflow-y: auto; }
  nav { border-bottom: 0; padding-bottom: 2rem; }
  main, footer { padding-left: 3rem; padding-right: 3rem; }
}
@media (min-width: 84rem) {
  main { max-width: 92rem; }
  .columns { display: grid; grid-template-columns: minmax(0, 6fr) minmax(0, 5fr); gap: 2.5rem; }
  .samples figure:first-child { margin-top: 0.6rem; }
  table { min-width: 0; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`;
