/** The form that runs the saved workflow on a sample event. */
import type { Workflow } from "atrium/server";
import { useState } from "react";
import { EVENT_NAMES, isEventName } from "../data/events.ts";
import { useNames } from "../live/use-names.ts";
import { RoomChoice } from "../rooms/room-choice.tsx";
import { SelectField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { ExecutionDetail } from "./execution-row.tsx";
import { useRunWorkflow } from "./use-executions.ts";

export function TestRun({ workflow }: { readonly workflow: Workflow }) {
  const run = useRunWorkflow(workflow.id);
  const [roomId, setRoomId] = useState(workflow.room_id);
  return (
    <section className="panel" aria-labelledby="test-run">
      <h2 id="test-run">Test run</h2>
      <p className="soft">Runs the saved code with a sample event and records the run.</p>
      <Form
        submitLabel="Run workflow"
        error={run.error}
        isBusy={run.isPending}
        onSubmit={({ event = "", userId }) => {
          if (!isEventName(event) || roomId === null) return;
          run.mutate({ event, data: { roomId, ...(userId && { userId }) } });
        }}
      >
        <div className="fields-row">
          <SelectField label="Event" name="event" defaultValue={workflow.events[0]}>
            {EVENT_NAMES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </SelectField>
          <RoomChoice chosen={roomId} onChange={setRoomId} none="Choose a room" />
          {roomId !== null && <UserChoice key={roomId} roomId={roomId} />}
        </div>
        {roomId === null && <p className="soft small">Choose the room of the sample event.</p>}
      </Form>
      {run.data && <ExecutionDetail execution={run.data} />}
    </section>
  );
}

function UserChoice({ roomId }: { readonly roomId: string }) {
  const { users = [] } = useNames(roomId);
  return (
    <SelectField
      label="User"
      name="userId"
      hint={users.length === 0 ? "The room has no users yet." : undefined}
    >
      <option value="">None</option>
      {users.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}
