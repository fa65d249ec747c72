/** A room now: the users in it, their places, and the timeline. */

import type { PresenceState, Room, User } from "atrium/server";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { joinNames } from "../data/messages.ts";
import { useApiQuery } from "../data/organization.tsx";
import { useDocuments } from "../documents/documents-part.tsx";
import { JoinBar, LIVE_REFRESH_MS, useLive } from "../live/live.tsx";
import { KindBadge } from "../people/people.tsx";
import { Button, Monogram, ScrollBox } from "../ui/button.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Badge, Empty, Loaded } from "../ui/feedback.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { Section, Stats } from "../ui/page.tsx";
import { formatDuration, Time } from "../ui/time.tsx";
import { arrange, boundsOf, colorOf, pointIn, summaryOf } from "./presence.ts";
import { Timeline } from "./timeline.tsx";

/** Page size of the API. */
const PAGE_SIZE = 100;
/** More are only counted. */
const MAX_SHOWN = 500;

/** The users who are online. */
const useOnline = (roomId: string) =>
  useApiQuery(
    ["room", roomId, "users", "online"],
    async ({ users: read }) => {
      const users: User[] = [];
      let total = 0;
      do {
        const page = await read.list(roomId, { online: true, limit: PAGE_SIZE, offset: users.length });
        if (page.users.length === 0) break;
        users.push(...page.users);
        total = page.total;
      } while (users.length < Math.min(total, MAX_SHOWN));
      return { users, unlisted: Math.max(0, total - users.length) };
    },
    { refetchInterval: LIVE_REFRESH_MS },
  );

type Presences = Readonly<Record<string, PresenceState>>;

/** All presence states: pushed by the room while watching live, else polled. */
function usePresences(roomId: string): Presences {
  const { client } = useLive();
  const [pushed, setPushed] = useState<Presences>({});
  const { data } = useApiQuery(["room", roomId, "presence"], (atrium) => atrium.getPresence(roomId), {
    refetchInterval: LIVE_REFRESH_MS,
    enabled: client === null,
  });
  useEffect(
    () => client?.presence.sync("*", () => setPushed(Object.fromEntries(client.presence.getStates()))),
    [client],
  );
  return client === null ? (data ?? {}) : pushed;
}

interface RoomProps {
  readonly room: Room;
}

export const LivePart = ({ room }: RoomProps) => (
  <>
    <Stats
      stats={[
        { label: "Online", value: room.active_participants },
        { label: "Total users", value: room.total_users_created },
        { label: "Active time", value: formatDuration(room.duration_seconds) },
      ]}
    />
    <JoinBar isClosed={room.state === "closed"} />
    <div className="live-columns">
      <WhoIsWhere room={room} />
      <Timeline roomId={room.id} />
    </div>
  </>
);

function WhoIsWhere({ room }: RoomProps) {
  const online = useOnline(room.id);
  const presences = usePresences(room.id);
  const { data: documents = [] } = useDocuments(room.id);
  const openedBy = (userId: string) =>
    documents.filter(({ participant_ids: ids }) => ids.includes(userId)).map(({ name }) => name);
  return (
    <Section id="who-is-where" title="Who is where">
      <Loaded query={online} shape="list">
        {({ users, unlisted }) =>
          users.length === 0 ? (
            <NoParticipants room={room} />
          ) : (
            <>
              <CursorMap {...{ users, presences }} />
              <ScrollBox className="people" label="Participants">
                <ul>
                  {users.map((user) => (
                    <Person
                      key={user.id}
                      user={user}
                      state={presences[user.id]}
                      documents={openedBy(user.id)}
                    />
                  ))}
                </ul>
              </ScrollBox>
              {unlisted > 0 && (
                <p>
                  <Link href={`/rooms/${room.id}/users?show=online`}>
                    And {unlisted.toLocaleString("en")} more
                  </Link>
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

function NoParticipants({ room: { id, total_users_created } }: RoomProps) {
  if (total_users_created > 0) return <p className="soft">No one is online right now.</p>;
  return (
    <Empty
      title="No one has joined yet"
      action={
        <Link className="button plain" href={`/rooms/${id}/users`}>
          Create a user
        </Link>
      }
      command={["POST", "/users", { roomId: id, name: "Ada" }]}
    >
      A user joins from a browser with its token.
    </Empty>
  );
}

interface PersonProps {
  readonly user: User;
  readonly state: PresenceState | undefined;
  /** The names of the documents that the user has open. */
  readonly documents: readonly string[];
}

/** A user with presence in words; as JSON on demand. */
function Person({ user: { id, room_id, name, kind, role, joined_at }, state, documents }: PersonProps) {
  const [isOpen, setOpen] = useState(false);
  const phrases = [
    documents.length > 0 && `in ${joinNames(documents)}`,
    state !== undefined && summaryOf(state),
  ];
  const summary = phrases.filter(Boolean).join(" · ");
  return (
    <li>
      <span className="face" style={{ borderColor: colorOf(id, state) }}>
        <Monogram name={name} isRound />
      </span>
      <div className="grow">
        <p className="title-row">
          <Link href={`/rooms/${room_id}/users/${id}`}>{name}</Link>
          {kind && <KindBadge kind={kind} />}
          {role === "viewer" && <Badge tone="plain">viewer</Badge>}
          {joined_at && <Time at={joined_at} />}
        </p>
        <p className="soft small">{summary || "Shows nothing"}</p>
      </div>
      <div className="row-actions">
        {state !== undefined && (
          <Button
            variant="quiet"
            aria-label={`JSON of ${name}`}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            JSON
          </Button>
        )}
        <ConfirmAction
          label="Disconnect"
          accessibleName={`Disconnect ${name}`}
          variant="quiet"
          title={`Disconnect ${name}?`}
          confirmLabel="Close connections"
          act={(atrium) => atrium.removeParticipant(room_id, id)}
          options={{ toast: `${name} was disconnected`, refreshes: [["room", room_id]] }}
        >
          <p>
            All tabs of this user leave the room, and do not come back by themselves. The user may join again:
            end the user's tokens to prevent that.
          </p>
        </ConfirmAction>
      </div>
      {isOpen && <JsonTree value={state} isOpen />}
    </li>
  );
}

type Placed = Parameters<typeof arrange>[0][number] & { readonly color: string };

const spot = ({ name, point }: Placed): string =>
  `${name} at ${Math.round(point.x).toLocaleString("en")}, ${Math.round(point.y).toLocaleString("en")}`;

interface CursorMapProps {
  readonly users: readonly User[];
  readonly presences: Presences;
}

/** A face for each user who shows a position, with names where there is room; nothing while no one does. */
function CursorMap({ users, presences }: CursorMapProps) {
  const cursors = users.flatMap(({ id, name }): Placed[] => {
    const point = pointIn(presences[id]);
    return point === null ? [] : [{ id, name, point, color: colorOf(id, presences[id]) }];
  });
  return cursors.length === 0 ? null : <Plane cursors={cursors} />;
}

/** A size before the first layout is known. */
const NO_SIZE = { width: 0, height: 0 };

function Plane({ cursors }: { readonly cursors: readonly Placed[] }) {
  const box = useRef<HTMLUListElement>(null);
  const [size, setSize] = useState(NO_SIZE);
  useEffect(() => {
    if (box.current === null) return;
    const watch = new ResizeObserver(([entry]) => entry && setSize(entry.contentRect));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const bounds = boundsOf(cursors.map(({ point }) => point));
  const markers = size === NO_SIZE ? [] : arrange(cursors, bounds, size);
  return (
    <ul className="cursor-map" ref={box} aria-label="Map of cursors">
      {markers.map(({ cursors: [first, ...others], face: { left, top }, label, name }) => {
        if (first === undefined) return null;
        const spots = [first, ...others].map(spot).join("\n");
        return (
          <li key={first.id} className="face" style={{ left, top, borderColor: first.color }} title={spots}>
            <Monogram name={first.name} count={others.length + 1} isRound />
            <span className="hidden">{spots}</span>
            {name && (
              <span
                className="cursor-name"
                style={{ left: name.left - left, top: name.top - top, maxWidth: name.width }}
                aria-hidden="true"
              >
                {label}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
