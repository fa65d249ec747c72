/** The form of a workflow: code, name, triggers, and rooms. */
import type { Workflow } from "atrium/server";
import { lazy, Suspense, useRef } from "react";
import { loadPage } from "../data/connection.ts";
import { EVENT_NAMES } from "../data/events.ts";
import { readCompileError } from "../data/messages.ts";
import { useCurrent } from "../data/organization.tsx";
import { RoomChoice } from "../rooms/rooms.tsx";
import { Button } from "../ui/button.tsx";
import { EventChoice } from "../ui/event-field.tsx";
import { Loading } from "../ui/feedback.tsx";
import { Choice, NameField, TextField } from "../ui/fields.tsx";
import { Form, type FormProps } from "../ui/form.tsx";
import { newDraft, useDraft, type WorkflowInput } from "./draft.ts";

/** The initial code of a new workflow. */
const SAMPLE_CODE = `// Runs on each of the selected events.
// The run records what the function returns.
export default async function (event, { store, room, files }) {
  const users = await room.getUsers();
  const online = users.filter((user) => user.status === "online");
  console.log(event.event, "in", event.room.name);
  return { online: online.map((user) => user.name) };
}
`;

const CodeEditor = lazy(() => loadPage(() => import("./code-editor.tsx")));

interface WorkflowFormProps extends Omit<FormProps<WorkflowInput>, "toInput"> {
  /** Null for a new one. */
  readonly workflow: Workflow | null;
}

/** The fields of a workflow in the form, or of a new one. */
export const savedInput = (workflow: Workflow | null): WorkflowInput => ({
  name: workflow?.name ?? "",
  code: workflow?.code ?? SAMPLE_CODE,
  events: workflow?.events ?? ["participant.joined"],
  roomId: workflow?.room_id ?? null,
  retries: workflow?.retries ?? 0,
  schedule: workflow?.schedule ?? null,
  httpTrigger: workflow?.http_trigger ?? false,
});

export function WorkflowForm({ workflow, ...form }: WorkflowFormProps) {
  const { id: organizationId } = useCurrent().organization;
  const draft = useDraft(workflow?.id ?? newDraft(organizationId), savedInput(workflow));
  const { fields, start, change } = draft;
  const box = useRef<HTMLDivElement>(null);
  const save = () => box.current?.querySelector("form")?.requestSubmit();
  return (
    <div className="workflow" ref={box}>
      <Form {...form} toInput={draft.current}>
        <div className="code">
          {draft.isRestored && (
            <p className="restored">
              This is what you have not saved.
              <Button onClick={draft.discard}>Discard it</Button>
            </p>
          )}
          <Suspense fallback={<Loading />}>
            <CodeEditor
              key={start.discards}
              initial={start.code}
              problem={readCompileError(form.action.error)}
              onChange={draft.changeCode}
              onSave={save}
            />
          </Suspense>
        </div>
        <div className="code-side">
          <NameField value={fields.name} onChange={(event) => change({ name: event.currentTarget.value })} />
          <EventChoice names={EVENT_NAMES} chosen={fields.events} onChange={(events) => change({ events })} />
          <StartFields {...fields} onChange={change} />
          <RoomChoice chosen={fields.roomId} onChange={(roomId) => change({ roomId })} />
          <TextField
            label="Retries"
            name="retries"
            type="number"
            required
            min={0}
            max={5}
            value={`${fields.retries}`}
            hint="How often a failed run is made again. With 0, the workflow runs at most once per event."
            onChange={(event) => change({ retries: event.currentTarget.valueAsNumber || 0 })}
          />
        </div>
      </Form>
    </div>
  );
}

interface StartFieldsProps extends Pick<WorkflowInput, "schedule" | "httpTrigger"> {
  readonly onChange: (part: Partial<WorkflowInput>) => void;
}

/** The person's own time zone. */
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Starts of a workflow beside events: its schedule, and requests. */
function StartFields({ schedule, httpTrigger, onChange }: StartFieldsProps) {
  const write = (cron: string, timezone: string) =>
    onChange({ schedule: cron === "" ? null : { cron, timezone } });
  return (
    <>
      <TextField
        label="Schedule"
        name="schedule.cron"
        maxLength={100}
        placeholder="0 9 * * 1-5"
        value={schedule?.cron ?? ""}
        hint="Minute, hour, day, month and weekday, as in a crontab. Empty for none."
        onChange={(event) => write(event.currentTarget.value, schedule?.timezone ?? ownZone())}
      />
      {schedule !== null && (
        <TextField
          label="Time zone"
          name="schedule.timezone"
          required
          maxLength={64}
          value={schedule.timezone}
          onChange={(event) => write(schedule.cron, event.currentTarget.value)}
        />
      )}
      <fieldset className="field choices">
        <legend>Requests</legend>
        <Choice isOn={httpTrigger} onChange={(isOn) => onChange({ httpTrigger: isOn })}>
          <span>HTTP trigger</span>
          <span className="soft small">A signed request starts the workflow</span>
        </Choice>
      </fieldset>
    </>
  );
}
