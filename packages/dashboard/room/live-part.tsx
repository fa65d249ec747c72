/** A room now: the users in it, their places, and the timeline. */

import type { PresenceState, Room, User } from "atrium/server";
import { memo, useEffect, useState } from "react";
import { Link } from "wouter";
import { joinNames } from "../data/messages.ts";
import { useApiQuery } from "../data/organization.tsx";
import { useDocuments } from "../documents/documents-part.tsx";
import { LIVE_REFRESH_MS, LiveLine, useLive, useRefreshMs } from "../live/live.tsx";
import { colorOf } from "../people/faces.tsx";
import { KindBadge } from "../people/people.tsx";
import { Button, Monogram, ScrollBox } from "../ui/button.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Badge, Empty, Loaded } from "../ui/feedback.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { Section } from "../ui/page.tsx";
import { formatDuration, useTick } from "../ui/time.tsx";
import { ActivityStrip } from "./activity-strip.tsx";
import { CursorMap, type Presences } from "./cursor-map.tsx";
import { summaryOf } from "./presence.ts";
import { Timeline, useStream } from "./timeline.tsx";

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
    { refetchInterval: useRefreshMs() },
  );

/** The page is drawn at most this often for moving cursors, which glide in between. */
const DRAW_MS = 100;

/** All presence states: pushed by the room while watching live, else polled. */
function usePresences(roomId: string): Presences {
  const { client } = useLive();
  const [pushed, setPushed] = useState<Presences>({});
  const { data } = useApiQuery(["room", roomId, "presence"], (atrium) => atrium.getPresence(roomId), {
    refetchInterval: LIVE_REFRESH_MS,
    enabled: client === null,
  });
  useEffect(() => {
    if (client === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      timer = undefined;
      setPushed(Object.fromEntries(client.presence.getStates()));
    };
    const stop = client.presence.sync("*", () => {
      timer ??= setTimeout(draw, DRAW_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [client]);
  return client === null ? (data ?? {}) : pushed;
}

interface RoomProps {
  readonly room: Room;
}

export function LivePart({ room }: RoomProps) {
  const stream = useStream(room.id);
  return (
    <>
      <LiveLine />
      <div className="live-columns">
        <div className="live-side">
          <WhoIsWhere room={room} />
          <ActivityStrip minutes={stream.minutes} />
        </div>
        <Timeline roomId={room.id} stream={stream} />
      </div>
    </>
  );
}

const WhoIsWhere = memo(({ room }: RoomProps) => {
  const online = useOnline(room.id);
  const presences = usePresences(room.id);
  const { data: documents = [] } = useDocuments(room.id);
  const openedBy = (userId: string) =>
    joinNames(documents.filter(({ participant_ids: ids }) => ids.includes(userId)).map(({ name }) => name));
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
});

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
  /** The names of the documents that the user has open; empty for none. */
  readonly documents: string;
}

/** The time since a user joined, which its activity does not change. */
function Stay({ since }: { readonly since: string }) {
  useTick(STAY_REFRESH_MS);
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1000));
  return <span className="soft">{seconds < 60 ? "just joined" : `here for ${formatDuration(seconds)}`}</span>;
}

const STAY_REFRESH_MS = 10_000;

/** A user with presence in words; as JSON on demand. */
const Person = memo(
  ({ user: { id, room_id, name, kind, role, joined_at }, state, documents }: PersonProps) => {
    const [isOpen, setOpen] = useState(false);
    const phrases = [documents !== "" && `in ${documents}`, state !== undefined && summaryOf(state)];
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
            {joined_at && <Stay since={joined_at} />}
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
              All tabs of this user leave the room, and do not come back by themselves. The user may join
              again: end the user's tokens to prevent that.
            </p>
          </ConfirmAction>
        </div>
        {isOpen && <JsonTree value={state} isOpen />}
      </li>
    );
  },
);
