/** The participants, and the link that invites others. */
import { useOthers, useRoom, useSelf } from "atrium/react";
import { useRef, useState } from "react";
import { encode } from "uqr";
import { isHelper } from "../helpers/company.ts";
import { useFollowedId, useOtherParticipants } from "../room/participants.ts";
import { boardLink, dashboardLink } from "../room/visitor.ts";

/** The text after the visitor's name. */
const HINTS = {
  none: ". Share the link to add others.",
  helpers: ". The helpers are scripts in this page, which leave when others join.",
  users: "",
};

/** Of more participants, the number is shown. */
const MAX_AVATARS = 8;

/** Click a participant to follow them: their cursor is highlighted and stays in view. */
export function Participants() {
  const { users } = useRoom().client;
  const name = useSelf(({ user }) => user.name);
  const company = useOthers((others) =>
    others.every(({ user }) => isHelper(user)) ? (others.length === 0 ? "none" : "helpers") : "users",
  );
  const others = useOtherParticipants((all) => all.map(({ id, name, color }) => ({ id, name, color })));
  const followed = useFollowedId();
  const follow = async (id: string) => {
    if (followed) await users.get({ userId: followed })?.unfollow();
    if (id !== followed) await users.get({ userId: id })?.follow();
  };
  return (
    <header>
      <h1>Atrium</h1>
      <p>{name && `You are ${name}${HINTS[company]}`}</p>
      {others.slice(0, MAX_AVATARS).map((other) => (
        <button
          key={other.id}
          type="button"
          className="avatar"
          style={{ color: other.color }}
          title={other.name}
          aria-label={`Follow ${other.name}`}
          aria-pressed={other.id === followed}
          onClick={() => follow(other.id)}
        >
          <span>{other.name.split(" ", 2).map((word) => [...word][0])}</span>
        </button>
      ))}
      {others.length > MAX_AVATARS && <span>+{others.length - MAX_AVATARS}</span>}
      <Share />
    </header>
  );
}

/** A phone cannot reach the machine by these names. */
const IS_LOCAL = /^(localhost|127\..*|\[::1\])$/.test(location.hostname);

function Share() {
  const [isCopied, setCopied] = useState(false);
  const link = boardLink();
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
        <QrCode link={link} />
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
