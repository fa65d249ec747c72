/** The dialog that shares the board: its link for everyone, and for those who can edit it, who may do what. */
import { useOthers, useRoomPermissions } from "atrium/react";
import {
  type FormEvent,
  type ReactNode,
  startTransition,
  useCallback,
  useEffect,
  useOptimistic,
  useRef,
  useState,
} from "react";
import { encode } from "uqr";
import type { Level, Sharing } from "../../sharing.ts";
import { ask, boardLink, dashboardLink, guestLink, ownId } from "../room/visitor.ts";

/** A phone cannot reach the machine by these names. */
const IS_LOCAL = /^(localhost|127\..*|\[::1\])$/.test(location.hostname);

const LEVELS: readonly Level[] = ["none", "viewer", "commenter", "editor"];
const NAMES: Readonly<Record<Level, string>> = {
  none: "No access",
  viewer: "Can view",
  commenter: "Can comment",
  editor: "Can edit",
};

export default function Share({ close }: { close(): void }) {
  const open = useCallback((dialog: HTMLDialogElement | null) => dialog?.showModal(), []);
  const { permissions } = useRoomPermissions();
  const dashboard = dashboardLink();
  return (
    <dialog ref={open} className="share" aria-label="Share this board" onClose={close}>
      <form method="dialog">
        <h2>Share this board</h2>
        <button type="submit" className="close" aria-label="Close the dialog">
          ×
        </button>
      </form>
      <div className="share-parts">
        <section aria-label="The board’s link">
          <QrCode link={boardLink()} />
          <CopyLink label="Link" link={boardLink()} />
          <p>
            {IS_LOCAL
              ? "A phone cannot reach this machine as “localhost”: open the link in a second window, or start Atrium with --host."
              : "Scan the code: your phone’s finger appears here."}{" "}
            The board is deleted after a day.
          </p>
          {dashboard && <a href={dashboard}>Open in the dashboard</a>}
        </section>
        {permissions.includes("*:write") ? (
          <Access />
        ) : (
          <p>Only those who can edit this board can change who may do what on it.</p>
        )}
      </div>
    </dialog>
  );
}

function CopyLink({ label, link }: { readonly label: string; readonly link: string }) {
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
    <div className="link">
      <input ref={shown} readOnly value={link} aria-label={label} onFocus={({ target }) => target.select()} />
      <button type="button" className="primary" onClick={copy}>
        {isCopied ? "Copied" : "Copy"}
        <span className="visually-hidden"> {label.toLowerCase()}</span>
      </button>
    </div>
  );
}

/** The access to the board, read again when others come. Each change is made at once. */
function Access() {
  const [sharing, setSharing] = useState<Sharing | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [error, setError] = useState("");
  const others = useOthers((all) => all.length);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  /** One after the other: no earlier answer takes the place of a later one. */
  const send = useCallback((method: string, path: string, body?: object) => {
    const run = async () => {
      try {
        const { secret, ...answer } = await ask<Sharing & { readonly secret?: string }>(method, path, body);
        setSharing(answer);
        setError("");
        return secret ?? null;
      } catch (reason) {
        setError((reason as Error).message);
        return null;
      }
    };
    const answered = queue.current.then(run);
    queue.current = answered;
    return answered;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: others who come are other people
  useEffect(() => void send("GET", "sharing"), [send, others]);
  const change = (body: object) => send("PUT", "sharing", body);
  return (
    <div className="access">
      {error && <p role="alert">{error}</p>}
      {sharing === null ? (
        <p role="status">Loading…</p>
      ) : (
        <>
          <Row name={<h3>Everyone with the link</h3>}>
            <LevelSelect
              label="Everyone with the link"
              level={sharing.everyone}
              levels={LEVELS}
              change={(level) => change({ of: "everyone", level })}
            />
          </Row>
          <People sharing={sharing} change={change} />
          <Groups sharing={sharing} change={change} />
          <Guests
            links={sharing.links}
            secret={secret}
            create={async (body) => setSecret(await send("POST", "links", body))}
            revoke={async (id) => {
              setSecret(null);
              await send("DELETE", `links/${id}`);
            }}
          />
        </>
      )}
    </div>
  );
}

const Row = ({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) => (
  <div className="row">
    <div>{name}</div>
    {children}
  </div>
);

interface LevelSelectProps {
  /** The owner of the access. */
  readonly label: string;
  readonly level: Level | null;
  readonly levels: readonly Level[];
  /** The option for no entry. */
  readonly inherited?: string;
  change(level: Level | null): Promise<unknown>;
}

/** The value of a control, which is the chosen one until the service has answered. */
function useChoice<Value>(value: Value, change: (value: Value) => Promise<unknown>) {
  const [shown, show] = useOptimistic(value);
  const choose = (next: Value) =>
    startTransition(async () => {
      show(next);
      await change(next);
    });
  return [shown, choose] as const;
}

function LevelSelect({ label, level, levels, inherited, change }: LevelSelectProps) {
  const [chosen, choose] = useChoice(level, change);
  return (
    <select
      aria-label={`Access: ${label}`}
      value={chosen ?? ""}
      onChange={({ target }) => choose(LEVELS.find((each) => each === target.value) ?? null)}
    >
      {inherited !== undefined && <option value="">{inherited}</option>}
      {levels.map((each) => (
        <option key={each} value={each}>
          {NAMES[each]}
        </option>
      ))}
    </select>
  );
}

interface PartProps {
  readonly sharing: Sharing;
  change(body: object): Promise<unknown>;
}

/** The access of a person without an entry of their own: the highest of their groups, or else the default. */
function inheritedBy({ id }: Sharing["people"][number], { groups, everyone }: Sharing): string {
  const ofGroups = groups.flatMap(({ level, members }) => (level && members.includes(id) ? [level] : []));
  const highest = LEVELS.findLast((level) => ofGroups.includes(level));
  return highest === undefined ? `${NAMES[everyone]} · default` : `${NAMES[highest]} · group`;
}

function People({ sharing, change }: PartProps) {
  return (
    <section aria-label="People">
      <h3>People</h3>
      <ul>
        {sharing.people.map((person) => {
          const { id, name, is_owner, level } = person;
          return (
            <li key={id}>
              <Row
                name={
                  <>
                    {name}
                    {id === ownId() && <span className="soft"> (you)</span>}
                  </>
                }
              >
                {is_owner ? (
                  <span className="soft">Opened the board</span>
                ) : (
                  <LevelSelect
                    label={name}
                    level={level}
                    levels={LEVELS}
                    inherited={inheritedBy(person, sharing)}
                    change={(next) => change({ of: "person", id, level: next })}
                  />
                )}
              </Row>
            </li>
          );
        })}
      </ul>
      <p>As long as everyone has access, a removed person can come back by the link.</p>
    </section>
  );
}

const MAX_NAMED = 3;

function nameMembers(members: readonly string[], people: Sharing["people"]): string {
  if (members.length > MAX_NAMED) return `${members.length} members`;
  return people.flatMap(({ id, name }) => (members.includes(id) ? [name] : [])).join(", ") || "no one yet";
}

function Groups({ sharing, change }: PartProps) {
  return (
    <section aria-label="Groups">
      <h3>Groups</h3>
      <ul>
        {sharing.groups.map(({ id: groupId, name, level, members }) => (
          <li key={groupId}>
            <Row
              name={
                <details>
                  <summary>
                    {name}
                    <span className="soft"> · {nameMembers(members, sharing.people)}</span>
                  </summary>
                  {sharing.people.map(({ id, name }) => (
                    <Membership
                      key={id}
                      name={name}
                      isMember={members.includes(id)}
                      change={(isMember) => change({ of: "member", id, groupId, isMember })}
                    />
                  ))}
                </details>
              }
            >
              <LevelSelect
                label={name}
                level={level}
                levels={LEVELS.slice(1)}
                inherited="Default"
                change={(next) => change({ of: "group", id: groupId, level: next })}
              />
            </Row>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface MembershipProps {
  readonly name: string;
  readonly isMember: boolean;
  change(isMember: boolean): Promise<unknown>;
}

function Membership({ name, isMember, change }: MembershipProps) {
  const [isChecked, check] = useChoice(isMember, change);
  return (
    <label>
      <input type="checkbox" checked={isChecked} onChange={({ target }) => check(target.checked)} />
      {name}
    </label>
  );
}

const HOUR_MS = 60 * 60 * 1000;

interface GuestsProps {
  readonly links: Sharing["links"];
  /** Of the link that was created last. */
  readonly secret: string | null;
  create(link: object): Promise<unknown>;
  revoke(id: string): Promise<unknown>;
}

function Guests({ links, secret, create, revoke }: GuestsProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const hours = Number(data.get("hours"));
    const expiresAt = hours > 0 ? new Date(Date.now() + hours * HOUR_MS).toISOString() : undefined;
    void create({ permissions: data.get("level"), maxUses: Number(data.get("uses")), expiresAt });
  };
  return (
    <section aria-label="Links for guests">
      <h3>Links for guests</h3>
      <p>Guests enter by a link of their own, and leave when it is revoked.</p>
      {links.length > 0 && (
        <ul>
          {links.map((link) => (
            <li key={link.id}>
              <Row
                name={
                  <>
                    {NAMES[link.level]}
                    <span className="soft"> · {describe(link)}</span>
                  </>
                }
              >
                <button type="button" onClick={() => revoke(link.id)}>
                  Revoke
                </button>
              </Row>
            </li>
          ))}
        </ul>
      )}
      {secret && (
        <>
          <CopyLink label="Guest link" link={guestLink(secret)} />
          <p>Copy it now: it is not shown again.</p>
        </>
      )}
      <form className="new-link" onSubmit={submit}>
        <label>
          Guests
          <select name="level" defaultValue="viewer">
            {LEVELS.slice(1).map((level) => (
              <option key={level} value={level}>
                {NAMES[level].toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <label>
          Ends
          <select name="hours" defaultValue="1">
            <option value="1">in an hour</option>
            <option value="0">with the board</option>
          </select>
        </label>
        <label>
          Guests at most
          <input name="uses" type="number" min={1} max={20} defaultValue={5} required />
        </label>
        <button type="submit" className="primary">
          Create link
        </button>
      </form>
    </section>
  );
}

function describe({ uses, max_uses, expires_at }: Sharing["links"][number]): string {
  const used = `${uses} of ${max_uses} guests`;
  if (expires_at === null) return used;
  return `${used}, until ${new Date(expires_at).toLocaleTimeString([], { timeStyle: "short" })}`;
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
