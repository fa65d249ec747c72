/** The board's link, also as a QR code: who opens it joins this board. */
import { useRef, useState } from "react";
import { boardLink, dashboardLink } from "../room/visitor.ts";
import { type Modules, qrCode } from "./qr-code.ts";

/** Names of this very machine, which a phone cannot reach. */
const IS_LOCAL = /^(localhost|127\..*|\[::1\])$/.test(location.hostname);

export function Share() {
  const [isCopied, setCopied] = useState(false);
  const link = boardLink();
  const code = qrCode(link);
  const dashboard = dashboardLink();
  const shown = useRef<HTMLInputElement>(null);
  const copy = async () => {
    shown.current?.select();
    // Browsers offer the clipboard to secure pages only; elsewhere, the link is selected.
    if (!window.isSecureContext) return;
    await navigator.clipboard.writeText(link);
    setCopied(true);
  };
  return (
    <>
      <button type="button" className="primary" popoverTarget="share">
        Share
      </button>
      <section id="share" popover="auto" aria-label="Share this board">
        {code && <QrCode modules={code} />}
        <h2>This board is yours</h2>
        <p>
          {IS_LOCAL
            ? "A phone cannot reach this machine as “localhost”: open the link in a second window, or start Atrium with --host."
            : "Scan the code: your phone’s finger appears here. Anyone with the link can join."}{" "}
          The board is deleted after a day.
        </p>
        <div className="link">
          <input
            ref={shown}
            readOnly
            value={link}
            aria-label="Link"
            onFocus={({ target }) => target.select()}
          />
          <button type="button" className="primary" onClick={copy}>
            {isCopied ? "Copied" : "Copy link"}
          </button>
        </div>
        {dashboard && <a href={dashboard}>Open in the dashboard</a>}
      </section>
    </>
  );
}

/** Around the code, four modules stay light. */
const QUIET = 4;

function QrCode({ modules }: { readonly modules: Modules }) {
  const size = modules.length + 2 * QUIET;
  const dark = modules.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + QUIET} ${y + QUIET}h1v1h-1z`] : [])),
  );
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the link">
      <path d={dark.join("")} shapeRendering="crispEdges" />
    </svg>
  );
}
