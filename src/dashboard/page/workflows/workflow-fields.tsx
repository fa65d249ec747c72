/** The form of a workflow: code, name, what starts it, and rooms. */
import type { Workflow } from "atrium/server";
import { lazy, Suspense, useRef, useState } from "react";
import { EVENT_NAMES } from "../data/events.ts";
import { loadPage } from "../data/load-page.ts";
import { useCurrent } from "../data/organization.tsx";
import { RoomChoice } from "../rooms/room-choice.tsx";
import { Button } from "../ui/button.tsx";
import { Loading } from "../ui/feedback.tsx";
import { EventChoice, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { type Fields, readFields, writeFields } from "./draft-fields.ts";
import { findProblem } from "./problem.ts";
import { StartFields } from "./start-fields.tsx";
import { fieldsOf, newDraft, useDraft } from "./use-draft.ts";
import type { WorkflowInput } from "./use-workflows.ts";

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

export interface WorkflowFieldsProps {
  /** Null for a new one. */
  readonly workflow: Workflow | null;
  readonly submitLabel: string;
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly onSubmit: (input: WorkflowInput) => void;
}

const savedFields = (workflow: Workflow | null): Fields => ({
  name: workflow?.name ?? "",
  events: workflow?.events ?? ["participant.joined"],
  roomId: workflow?.room_id ?? null,
  retries: workflow?.retries ?? 0,
  schedule: workflow?.schedule ?? null,
  httpTrigger: workflow?.http_trigger ?? false,
});

export function WorkflowFields({ workflow, onSubmit, ...form }: WorkflowFieldsProps) {
  const { id: organizationId } = useCurrent().organization;
  const name = workflow?.id ?? newDraft(organizationId);
  const draft = useDraft(name, workflow?.code ?? SAMPLE_CODE);
  const kept = useDraft(fieldsOf(name), writeFields(savedFields(workflow)));
  const [fields, setFields] = useState(() => readFields(kept.initial));
  const change = (part: Partial<Fields>) => {
    const changed = { ...fields, ...part };
    setFields(changed);
    kept.change(writeFields(changed));
  };
  const discard = () => {
    draft.discard();
    kept.discard();
    setFields(savedFields(workflow));
  };
  const box = useRef<HTMLDivElement>(null);
  const save = () => box.current?.querySelector("form")?.requestSubmit();
  return (
    <div className="workflow" ref={box}>
      <Form {...form} onSubmit={() => onSubmit({ ...fields, code: draft.current() })}>
        <div className="code">
          {(draft.isRestored || kept.isRestored) && (
            <p className="restored">
              This is what you have not saved.
              <Button onClick={discard}>Discard it</Button>
            </p>
          )}
          <Suspense fallback={<Loading />}>
            <CodeEditor
              key={draft.initial}
              initial={draft.initial}
              problem={findProblem(form.error)}
              onChange={draft.change}
              onSave={save}
            />
          </Suspense>
        </div>
        <div className="code-side">
          <TextField
            label="Name"
            name="name"
            required
            maxLength={255}
            value={fields.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <EventChoice names={EVENT_NAMES} chosen={fields.events} onChange={(events) => change({ events })} />
          <StartFields schedule={fields.schedule} httpTrigger={fields.httpTrigger} onChange={change} />
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
