/** The first steps of a new organization, which are ticked as they happen. */
import type { Overview } from "atrium/server";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useApiQuery } from "../data/organization.tsx";
import { Face } from "../people/faces.tsx";
import { NewRoom } from "../rooms/rooms.tsx";
import { Icon } from "../ui/button.tsx";
import { Section } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Quickstart } from "./quickstart.tsx";

/** Polls come less often, the longer the page waits. */
export const waitingMs = (polls: number): number => Math.min(15_000, 2_000 + 250 * polls);

/** Whether a back end has called the API, or listens to it; undefined until that is known. */
function useBackEnd(): boolean | undefined {
  const { data } = useApiQuery(
    ["keys", "first use"],
    async ({ organization, webhooks }) => {
      const { api_keys: keys } = await organization.listKeys({ limit: 1, sort: "-last_used_at" });
      if (keys.some(({ last_used_at }) => last_used_at !== null)) return true;
      return (await webhooks.list({ limit: 1 })).total > 0;
    },
    { refetchInterval: ({ state }) => (state.data === true ? false : waitingMs(state.dataUpdateCount)) },
  );
  return data;
}

/** Code to connect with, beside the steps; nothing once all are done. */
export function Onboarding({ overview }: { readonly overview: Overview }) {
  const hasBackEnd = useBackEnd();
  const { rooms_total, first_joined_at: joinedAt } = overview;
  const hasRoom = rooms_total > 0;
  if (hasBackEnd === undefined || (hasRoom && joinedAt !== null && hasBackEnd)) return null;
  return (
    <div className="onboarding">
      <Quickstart next={joinedAt === null ? undefined : "Server"} />
      <Section id="first-steps" title="Get started in three steps" className="steps">
        <ol>
          <Step title="Create a room" about="A space your users share, such as a board." isDone={hasRoom}>
            <NewRoom variant="plain" />
          </Step>
          <Step
            title="Connect the first person"
            about="Run the sample, with a test user's token."
            isDone={joinedAt !== null}
            result={<FirstPerson joinedAt={joinedAt} />}
          />
          <Step
            title="Call the API from your back end"
            about="With an API key, or listen with a webhook."
            isDone={hasBackEnd}
          >
            <Link className="button plain" href="/settings">
              API keys
            </Link>
          </Step>
        </ol>
      </Section>
    </div>
  );
}

interface StepProps {
  readonly title: string;
  readonly about: string;
  readonly isDone: boolean;
  /** The instruction, until it is done. */
  readonly children?: ReactNode;
  /** The state of the step, below its text. */
  readonly result?: ReactNode;
}

const Step = ({ title, about, isDone, children, result }: StepProps) => (
  <li data-done={isDone || undefined}>
    <span className="tick">{isDone && <Icon name="check" />}</span>
    <div className="grow">
      <h3>
        {title} {isDone && <span className="hidden">done</span>}
      </h3>
      {!isDone && <p className="soft">{about}</p>}
      {result}
    </div>
    {!isDone && children}
  </li>
);

/** The face and name of the first user, while online. */
function FirstPerson({ joinedAt }: { readonly joinedAt: string | null }) {
  const { data: person } = useApiQuery(
    ["rooms", "first person", joinedAt],
    async ({ rooms, users }) => {
      const [room] = (await rooms.list({ online: true, limit: 1 })).rooms;
      const online = room && (await users.list(room.id, { online: true, limit: 1 })).users[0];
      return online === undefined ? null : { ...online, room: room?.name };
    },
    { enabled: joinedAt !== null, staleTime: Number.POSITIVE_INFINITY },
  );
  return (
    <div className="waiting" role="status">
      {joinedAt === null ? (
        <>
          <span className="pulse" aria-hidden="true" />
          <span className="softly">Waiting for your first connection…</span>
        </>
      ) : person ? (
        <span className="arrived">
          <Face {...person} />
          <span>
            <Link href={`/rooms/${person.room_id}`}>{person.name}</Link> joined {person.room}
          </span>
        </span>
      ) : (
        <span>
          Joined <Time at={joinedAt} />
        </span>
      )}
    </div>
  );
}
