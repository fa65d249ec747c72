/** The panel's styles, in a constructed sheet, which no Content-Security-Policy of a page forbids. */

const CSS = `
:host {
  --page: #ffffff; --raised: #f4f5f7; --line: #d5d9e0; --text: #1b1f27; --quiet: #565e6c;
  --accent: #2450c4; --good: #0f7a4a; --warn: #8a5300; --bad: #b42318; --lit: rgb(36 80 196 / 30%);
  all: initial;
  position: fixed; z-index: 2147483000; inset: auto 12px 12px auto;
  display: flex; flex-direction: column; max-width: calc(100vw - 24px); max-height: calc(100vh - 24px);
  font: 13px/1.45 system-ui, sans-serif; color: var(--text); color-scheme: light;
}
@media (prefers-color-scheme: dark) {
  :host {
    --page: #15181e; --raised: #1f242d; --line: #363d49; --text: #e8ebf0; --quiet: #a5aebd;
    --accent: #8fb0ff; --good: #5ed39b; --warn: #f0b657; --bad: #ff9a8f; --lit: rgb(143 176 255 / 30%);
    color-scheme: dark;
  }
}
* { box-sizing: border-box; }
button {
  font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
  padding: 4px 10px; min-height: 28px; cursor: pointer;
}
button:hover { border-color: var(--quiet); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.toggle { display: flex; flex: none; gap: 8px; align-items: center; margin-left: auto; border-radius: 16px; background: var(--page); box-shadow: 0 2px 8px rgb(0 0 0 / 25%); }
.dot { width: 8px; height: 8px; border-radius: 50%; background: var(--warn); }
[data-state="connected"] .dot { background: var(--good); }
[data-state="closed"] .dot, [data-state="cut"] .dot { background: var(--bad); }
.panel {
  display: flex; flex-direction: column; width: 420px; max-width: 100%; min-height: 0; max-height: 560px;
  margin-bottom: 8px; overflow: hidden; background: var(--page); border: 1px solid var(--line); border-radius: 10px;
  box-shadow: 0 8px 28px rgb(0 0 0 / 28%);
}
.panel[hidden] { display: none; }
header { display: flex; gap: 8px; align-items: center; padding: 8px 12px; background: var(--raised); border-bottom: 1px solid var(--line); }
header button { flex: none; }
h2 { flex: 1; min-width: 0; margin: 0; font: inherit; font-weight: 600; }
.body { overflow: auto; overscroll-behavior: contain; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 0; padding: 8px 12px; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); }
details details { border: 0; margin-left: 14px; }
summary { display: flex; gap: 8px; align-items: baseline; padding: 5px 12px; cursor: pointer; }
summary::before { content: "▸"; flex: none; width: 10px; color: var(--quiet); }
details[open] > summary::before { content: "▾"; }
summary b { flex: none; max-width: 60%; font-weight: 600; overflow-wrap: anywhere; }
.note, .none { color: var(--quiet); }
.note { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.none, .row { margin: 0; padding: 2px 12px 6px 30px; }
ol { margin: 0; padding: 0 0 6px; list-style: none; }
.row { display: flex; gap: 8px; padding-bottom: 2px; }
pre { margin: 0 12px 6px 30px; padding: 6px 8px; max-height: 220px; overflow: auto; background: var(--raised); border-radius: 6px; font: 12px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 480px) {
  .panel { width: calc(100vw - 24px); }
}
@media (prefers-reduced-motion: no-preference) {
  .changed > summary { animation: changed 1.2s ease-out; }
  @keyframes changed { from { background: var(--lit); } }
}
`;

export function applyStyles(root: ShadowRoot): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  root.adoptedStyleSheets = [sheet];
}
