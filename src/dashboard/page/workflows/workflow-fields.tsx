/** The form of a workflow: code, name, events and rooms. */

import type { Workflow } from "atrium/server";
import { lazy, Suspense, useRef, useState } from "react";
import { EVENT_NAMES } from "../data/events.ts";
import { useCurrent } from "../data/organization.tsx";
import { RoomChoice } from "../rooms/room-choice.tsx";
import { Button } from "../ui/button.tsx";
import { EventChoice } from "../ui/event-choice.tsx";
import { Form } from "../ui/form.tsx";
import { Loading } from "../ui/loading.tsx";
import { TextField } from "../ui/text-field.tsx";
import { findProblem } from "./problem.ts";
import { SAMPLE_CODE } from "./sample-code.ts";
import { newDraft, useDraft } from "./use-draft.ts";
import type { WorkflowInput } from "./use-workflows.ts";

const CodeEditor = lazy(() => import("./code-editor.tsx"));

export interface WorkflowFieldsProps {
  /** Null for a new one. */
  readonly workflow: Workflow | null;
  readonly submitLabel: string;
  readonly error: Error | null;
  readonly isBusy: boolean;
  readonly onSubmit: (input: WorkflowInput) => void;
}

export function WorkflowFields({ workflow, onSubmit, ...form }: WorkflowFieldsProps) {
  const [events, setEvents] = useState<WorkflowInput["events"]>(workflow?.events ?? ["participant.joined"]);
  const [roomId, setRoomId] = useState(workflow?.room_id ?? null);
  const { id: organizationId } = useCurrent().organization;
  const draft = useDraft(workflow?.id ?? newDraft(organizationId), workflow?.code ?? SAMPLE_CODE);
  const box = useRef<HTMLDivElement>(null);
  const save = () => box.current?.querySelector("form")?.requestSubmit();
  return (
    <div className="workflow" ref={box}>
      <Form {...form} onSubmit={({ name = "" }) => onSubmit({ name, code: draft.current(), events, roomId })}>
        <div className="code">
          {draft.isRestored && (
            <p className="restored">
              This is code that you have not saved.
              <Button onClick={draft.discard}>Discard it</Button>
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
          <TextField label="Name" name="name" required maxLength={255} defaultValue={workflow?.name ?? ""} />
          <EventChoice names={EVENT_NAMES} chosen={events} onChange={setEvents} />
          <RoomChoice chosen={roomId} onChange={setRoomId} />
        </div>
      </Form>
    </div>
  );
}
