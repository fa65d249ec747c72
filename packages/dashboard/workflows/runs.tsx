/** The runs of a workflow, newest first and updated live, and the form that makes one on a sample event. */

import type { EventName, WorkflowExecution as Execution, Workflow } from "atrium/server";
import { useState } from "react";
import { EVENT_NAMES, isEventName } from "../data/events.ts";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { useNames } from "../live/live.tsx";
import { RoomChoice } from "../rooms/rooms.tsx";
import { CodeBlock, prettyJson } from "../ui/button.tsx";
import { Badge, CausedBy, Details, Empty, Paged } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";

const REFRESH_MS = 2000;

interface RunsProps {
  readonly workflowId: string;
  /** The run that the person has just made, which is open. */
  readonly latest: string | null;
}

export function Runs({ workflowId, latest }: RunsProps) {
  const filters = useFilters();
  const query = filters.page();
  const runs = useApiQuery(
    ["workflow", workflowId, "executions", query],
    ({ workflows }) => workflows.listExecutions(workflowId, query),
    { refetchInterval: REFRESH_MS },
  );
  const sample = { event: "session.started", data: { roomId: "ROOM_ID" } };
  const empty = (
    <Empty title="No runs yet" create="Run it now" command={["POST", `/workflows/${workflowId}/run`, sample]}>
      Every run is listed here with its result, its log and its error.
    </Empty>
  );
  return (
    <Section id="executions" title="Runs">
      <Paged query={runs} {...{ filters, empty }}>
        {({ executions }) => (
          <ul className="records">
            {executions.map((execution) => (
              <li key={execution.id}>
                <Run
                  key={`${execution.id === latest}`}
                  execution={execution}
                  isOpen={execution.id === latest}
                />
              </li>
            ))}
          </ul>
        )}
      </Paged>
    </Section>
  );
}

interface RunProps {
  readonly execution: Execution;
  readonly isOpen: boolean;
}

function Run({ execution, isOpen }: RunProps) {
  const { status, event, result, version, duration_ms, created_at } = execution;
  return (
    <Details
      isOpenAtFirst={isOpen}
      summary={
        <>
          <Badge tone={status === "failed" ? "bad" : "good"}>{status}</Badge>
          <code>{event}</code>
          <span className="grow soft">{result.split("\n")[0]}</span>
          {version !== undefined && <span className="soft">v{version}</span>}
          <span className="soft">{Math.round(duration_ms)} ms</span>
          <Time at={created_at} />
        </>
      }
    >
      <RunDetail execution={execution} />
    </Details>
  );
}

const RunDetail = ({ execution: { status, result, request_id, logs } }: Pick<RunProps, "execution">) => (
  <div className="detail">
    <CodeBlock what={status === "failed" ? "Error" : "Result"} text={prettyJson(result)} />
    <CausedBy requestId={request_id} />
    {logs.length > 0 && (
      <ol className="logs" aria-label="Logs">
        {logs.map(({ level, message, timestamp }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: log lines never move, and can be equal
          <li key={index}>
            <span className={`level ${level}`}>{level}</span>
            <code>{message}</code>
            <Time at={timestamp} />
          </li>
        ))}
      </ol>
    )}
  </div>
);

interface Sample {
  readonly event: EventName;
  readonly data: { readonly roomId: string; readonly userId?: string };
}

interface SampleRunProps {
  readonly workflow: Workflow;
  readonly onRun: (executionId: string) => void;
}

/** Runs the saved workflow on a sample event. */
export function SampleRun({ workflow: { id, room_id, events }, onRun }: SampleRunProps) {
  const [roomId, setRoomId] = useState(room_id);
  const run = useAction(({ workflows }, { event, data }: Sample) => workflows.run(id, event, data), {
    toast: ({ status, duration_ms }) =>
      `Run ${status === "success" ? "succeeded" : "failed"} in ${Math.round(duration_ms)} ms`,
    isFailure: ({ status }) => status === "failed",
    refreshes: [["workflow", id]],
    onDone: (execution) => onRun(execution.id),
  });
  return (
    <FormDialog
      button={{ variant: "primary", icon: "run", "data-shortcut": "new", children: "Run…" }}
      title="Run the workflow"
      about="Runs the saved code with a sample event, and records the run. What it does is real."
      submitLabel="Run workflow"
      action={run}
      toInput={({ event = "", userId }) =>
        isEventName(event) && roomId !== null
          ? { event, data: { roomId, ...(userId && { userId }) } }
          : undefined
      }
    >
      <SelectField label="Event" name="event" defaultValue={events[0]} options={EVENT_NAMES} />
      <RoomChoice chosen={roomId} onChange={setRoomId} none="Choose a room" />
      {roomId === null ? (
        <p className="soft small">Choose the room of the sample event.</p>
      ) : (
        <UserChoice key={roomId} roomId={roomId} />
      )}
    </FormDialog>
  );
}

function UserChoice({ roomId }: { readonly roomId: string }) {
  const { users = [] } = useNames(roomId);
  return (
    <SelectField
      label="User"
      name="userId"
      hint={users.length === 0 ? "The room has no users yet." : undefined}
      options={[["", "None"], ...users.map(({ id, name }) => [id, name] as const)]}
    />
  );
}
