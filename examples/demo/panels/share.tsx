/** The dialog that shares the board: its link, and what everyone who has it may do. */
import { useRoomPermissions } from "atrium/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { encode } from "uqr";
import type { Level } from "../../../src/demo/commands.ts";
import { ask, boardLink, dashboardLink } from "../room/visitor.ts";
import { used } from "../ui/used.ts";

/** A phone cannot reach the machine by these names. */
const IS_LOCAL = /^(localhost|127\..*|\[::1\])$/.test(location.hostname);

const LEVELS: Readonly<Record<Level, string>> = {
  editor: "Can edit",
  commenter: "Can comment",
  viewer: "Can view",
  none: "No access",
};

export default function Share({ close }: { close(): void }) {
  const open = useCallback((dialog: HTMLDialogElement | null) => dialog?.showModal(), []);
  const { permissions } = useRoomPermissions();
  const [dashboard, setDashboard] = useState<string | null>(null);
  useEffect(() => {
    dashboardLink().then(setDashboard, () => {}); // the link is no loss while the service is away
  }, []);
  return (
    <dialog ref={open} className="share" aria-label="Share this board" onClose={close}>
      <form method="dialog">
        <h2>Share this board</h2>
        <button type="submit" className="close" aria-label="Close the dialog">
          ×
        </button>
      </form>
      <CopyLink link={boardLink()} />
      {permissions.includes("*:write") ? (
        <Access />
      ) : (
        <p>Only those who can edit this board can change who may do what on it.</p>
      )}
      <details>
        <summary>More</summary>
        {IS_LOCAL || <QrCode link={boardLink()} />}
        <p>
          {IS_LOCAL
            ? "A phone cannot reach this machine as “localhost”: open the link in a second window, or start Atrium with --host."
            : "Scan the code: your phone’s finger appears here."}
        </p>
        {dashboard && (
          <p>
            <a href={dashboard}>Open in the dashboard</a>
          </p>
        )}
        <p>The board is deleted after a day.</p>
      </details>
    </dialog>
  );
}

function CopyLink({ link }: { readonly link: string }) {
  const [isCopied, setCopied] = useState(false);
  const shown = useRef<HTMLInputElement>(null);
  const copy = async () => {
    shown.current?.select();
    // Browsers offer the clipboard to secure pages only; elsewhere, the link is selected.
    if (!window.isSecureContext) return;
    await navigator.clipboard.writeText(link);
    setCopied(true);
  };
  return (
    <div className="row">
      <input ref={shown} readOnly value={link} aria-label="Link" onFocus={({ target }) => target.select()} />
      <button type="button" className="button primary" onClick={copy}>
        {isCopied ? "Copied" : "Copy link"}
      </button>
    </div>
  );
}

/** What the link lets everyone do but the person who has opened the board. A change counts at once, for all who are here. */
function Access() {
  const [level, setLevel] = useState<Level | "">("");
  const [error, setError] = useState("");
  const queue = useRef(Promise.resolve());
  /** One after the other: no earlier choice takes the place of a later one. */
  const send = useCallback((method: string, everyone?: Level) => {
    queue.current = queue.current
      .then(() => ask<{ everyone: Level }>(method, "sharing", everyone && { everyone }))
      .then((sharing) => setLevel(sharing.everyone))
      .catch((reason: Error) => setError(reason.message));
  }, []);
  useEffect(() => send("GET"), [send]);
  return (
    <>
      <label className="row">
        Everyone with the link
        <select
          value={level}
          onChange={({ target }) => {
            setLevel(target.value as Level);
            send("PUT", target.value as Level);
            used("Access");
          }}
        >
          {Object.entries(LEVELS).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {error && <p role="alert">{error}</p>}
    </>
  );
}

/** Readers need a light border of four modules. */
const QUIET_ZONE = 4;

function QrCode({ link }: { readonly link: string }) {
  const { data, size } = encode(link, { border: QUIET_ZONE });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the link">
      <path d={dark.join("")} shapeRendering="crispEdges" />
    </svg>
  );
}
