/** The runs of a workflow, newest first and updated live, and the form that makes one on a sample event. */

import type { EventName, WorkflowExecution as Execution, Workflow } from "atrium/server";
import { useState } from "react";
import { EVENT_NAMES, isAboutUser, isEventName } from "../data/events.ts";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { useNames } from "../live/live.tsx";
import { RoomChoice } from "../rooms/rooms.tsx";
import { CodeBlock, prettyJson, ScrollBox } from "../ui/button.tsx";
import { Badge, CausedBy, Details, Empty, Paged } from "../ui/feedback.tsx";
import { SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { Grouped, type Grouping } from "../ui/selectable.tsx";
import { errorWords, groupEqual, lineOf, linesAround, sayEqual, saySpan } from "../ui/story.ts";
import { useAgreement } from "../ui/subscribers.tsx";
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
  useAgreement({ kind: "workflows", id: workflowId }, runs.data);
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
            <Grouped
              tag="ul"
              className="records"
              items={executions}
              idOf={({ id }) => id}
              {...EQUAL_ERRORS}
              isOpenAtFirst={({ id }) => id === latest}
            >
              {(execution) => (
                <li key={execution.id}>
                  <Run
                    key={`${execution.id === latest}`}
                    execution={execution}
                    isOpen={execution.id === latest}
                  />
                </li>
              )}
            </Grouped>
          </ul>
        )}
      </Paged>
    </Section>
  );
}

const errorOf = ({ status, result }: Execution): string | null => (status === "failed" ? result : null);

/** Neighbours that failed for the same reason. */
const EQUAL_ERRORS: Grouping<Execution> = {
  groupsOf: (executions) => groupEqual(executions, errorOf),
  summaryOf: (group) => (
    <>
      <Badge tone="bad">failed</Badge>
      <span className="grow">{sayEqual(group.length, group[0].result)}</span>
      <span className="soft">
        {saySpan((group.at(-1) ?? group[0]).created_at, group[0].created_at, Date.now())}
      </span>
    </>
  ),
};

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

const RunDetail = ({ execution }: Pick<RunProps, "execution">) => {
  const { status, result, request_id, logs } = execution;
  return (
    <div className="detail">
      <FailedLine execution={execution} />
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
};

/** The code around the line that failed, with the error below that line; nothing where either is not known. */
function FailedLine({ execution }: Pick<RunProps, "execution">) {
  const { workflow_id: id, version, result } = execution;
  const line = execution.status === "failed" ? lineOf(result) : null;
  const { data } = useApiQuery(
    ["workflow version", id, version],
    ({ workflows }) => workflows.getVersion(id, version ?? 0),
    { staleTime: Number.POSITIVE_INFINITY, enabled: line !== null && version !== undefined },
  );
  const lines = data === undefined || line === null ? [] : linesAround(data.code, line);
  if (lines.length === 0) return null;
  return (
    <ScrollBox label={`Version ${version} around line ${line}`} className="excerpt">
      <ol start={lines[0]?.number}>
        {lines.map(({ number, text }) => (
          <li key={number} data-line={number} className={number === line ? "failed-line" : undefined}>
            <code>{text || " "}</code>
            {number === line && <p>{errorWords(result).replace(/ at line \d+$/, "")}</p>}
          </li>
        ))}
      </ol>
    </ScrollBox>
  );
}

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
  const [event, setEvent] = useState<string>(events[0] ?? EVENT_NAMES[0]);
  const run = useAction(({ workflows }, sample: Sample) => workflows.run(id, sample.event, sample.data), {
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
      isIncomplete={roomId === null}
      toInput={({ userId }) =>
        isEventName(event) && roomId !== null
          ? { event, data: { roomId, ...(userId && { userId }) } }
          : undefined
      }
    >
      <SelectField
        label="Event"
        value={event}
        onChange={({ currentTarget: { value } }) => setEvent(value)}
        options={EVENT_NAMES}
      />
      <RoomChoice chosen={roomId} onChange={setRoomId} none="Choose a room" />
      {roomId === null ? (
        <p className="soft small">Choose the room of the sample event.</p>
      ) : (
        <UserChoice key={roomId} roomId={roomId} isRequired={isAboutUser(event)} />
      )}
    </FormDialog>
  );
}

interface UserChoiceProps {
  readonly roomId: string;
  /** True for an event about one user. */
  readonly isRequired: boolean;
}

function UserChoice({ roomId, isRequired }: UserChoiceProps) {
  const { users } = useNames(roomId);
  const known = users?.map(({ id, name }) => [id, name] as const) ?? [];
  return (
    <SelectField
      label="User"
      name="userId"
      hint={users?.length === 0 ? "The room has no users yet." : undefined}
      {...(isRequired && { missing: "Choose a user." })}
      options={isRequired && known.length > 0 ? known : [["", "None"], ...known]}
    />
  );
}
