/** The dialog that sets an entry of a store, unless it has changed meanwhile. */
import type { Entry } from "atrium/server";
import { useState } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { TextField } from "../ui/text-field.tsx";
import { useSetEntry } from "./use-stores.ts";

export interface EntryFormProps {
  readonly roomId: string;
  readonly store: string;
  /** Null for a new one. */
  readonly name: string | null;
  readonly entry: Entry | null;
  readonly onClose: () => void;
}

export function EntryForm({ roomId, store, name, entry, onClose }: EntryFormProps) {
  const set = useSetEntry(roomId, store);
  const [parseError, setParseError] = useState<Error | null>(null);
  return (
    <Dialog title={name === null ? "New entry" : name} isOpen onClose={onClose} isWide>
      <Form
        submitLabel="Save"
        error={parseError ?? set.error}
        isBusy={set.isPending}
        onCancel={onClose}
        onSubmit={({ key = name ?? "", value = "" }) => {
          const parsed = parse(value);
          setParseError(parsed.error);
          if (parsed.error !== null) return;
          set.mutate({ key, value: parsed.value, ifVersion: entry?.version ?? 0 }, { onSuccess: onClose });
        }}
      >
        {name === null && <TextField label="Key" name="key" required />}
        <TextArea
          label="Value"
          name="value"
          hint="JSON."
          rows={10}
          required
          defaultValue={entry === null ? "{}" : JSON.stringify(entry.value, null, 2)}
        />
      </Form>
    </Dialog>
  );
}

type Parsed = { readonly value: unknown; readonly error: null } | { readonly error: Error };

function parse(text: string): Parsed {
  try {
    return { value: JSON.parse(text), error: null };
  } catch (error) {
    return {
      error: new Error(`The value is not valid JSON: ${error instanceof Error ? error.message : ""}.`),
    };
  }
}
