/** The button and dialog that have events of a time sent to a webhook again. */

import { useState } from "react";
import { DAY_MS } from "../../../platform/time.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { Form, type Values } from "../ui/form.tsx";
import { type ReplaySpan, useReplay } from "./use-replay.ts";

/** As a field of type `datetime-local` has it: the person's local time, to the minute. */
const toLocal = (epochMs: number): string => {
  const offsetMs = new Date(epochMs).getTimezoneOffset() * 60_000;
  return new Date(epochMs - offsetMs).toISOString().slice(0, 16);
};

/** The end includes the minute that the field shows. */
const toSpan = ({ from = "", to = "", status }: Values): ReplaySpan => ({
  from: new Date(from).toISOString(),
  to: new Date(Date.parse(`${to}:59.999`)).toISOString(),
  ...(status === "failed" && { status }),
});

export function ReplayButton({ webhookId }: { readonly webhookId: string }) {
  const [openedAt, setOpenedAt] = useState<number | null>(null);
  const replay = useReplay(webhookId);
  const close = () => {
    setOpenedAt(null);
    replay.reset();
  };
  const now = openedAt ?? 0;
  return (
    <>
      <Button onClick={() => setOpenedAt(Date.now())}>Send again</Button>
      <Dialog
        title="Send events again"
        about="Sends the events of a time again that this webhook listens to, with the same ids. Those of a room stay in order."
        isOpen={openedAt !== null}
        onClose={close}
      >
        <Form
          submitLabel="Send again"
          error={replay.error}
          isBusy={replay.isPending}
          onSubmit={(values) => replay.mutate(toSpan(values), { onSuccess: close })}
          onCancel={close}
        >
          <TextField
            label="From"
            name="from"
            type="datetime-local"
            required
            defaultValue={toLocal(now - DAY_MS)}
          />
          <TextField label="To" name="to" type="datetime-local" required defaultValue={toLocal(now)} />
          <SelectField label="Which" name="status">
            <option value="">All events in the log</option>
            <option value="failed">Only failed deliveries</option>
          </SelectField>
        </Form>
      </Dialog>
    </>
  );
}
