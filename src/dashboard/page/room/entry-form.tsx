/** The dialog that sets an entry of a store. If the entry has changed meanwhile, it shows both values. */
import { AtriumError, type Entry } from "atrium/server";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { CodeBlock } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextArea, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { useFindEntry, useSetEntry } from "./use-stores.ts";

/** What the entry has become while it was edited; null for `entry` when it was deleted. */
interface Conflict {
  readonly entry: Entry | null;
}

const textOf = (entry: Entry): string => JSON.stringify(entry.value, null, 2);

interface ConflictPartProps {
  readonly conflict: Conflict;
  /** Goes on with the current value instead of one's own. */
  readonly onTake: () => void;
}

const ConflictPart = ({ conflict: { entry }, onTake }: ConflictPartProps) =>
  entry === null ? (
    <p role="alert">The entry was deleted while you edited it. Saving creates it again.</p>
  ) : (
    <div className="form" role="alert">
      <p>The entry has changed while you edited it. It is now:</p>
      <CodeBlock text={textOf(entry)} what="Current value" />
      <Button onClick={onTake}>Edit this one instead</Button>
    </div>
  );

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
  const find = useFindEntry(roomId, store);
  const [parseError, setParseError] = useState<Error | null>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  /** What the text field begins with: another one starts anew. */
  const [initial, setInitial] = useState(entry);
  const known = conflict === null ? initial : conflict.entry;
  const save = async (key: string, value: unknown) => {
    try {
      await set.mutateAsync({ key, value, ifVersion: known?.version ?? 0 });
      onClose();
    } catch (error) {
      if (!(error instanceof AtriumError) || error.code !== "CONFLICT") return; // the form shows it
      const current = await find(key).catch(() => undefined);
      if (current === undefined) return;
      set.reset();
      setConflict({ entry: current });
    }
  };
  return (
    <Dialog title={name === null ? "New entry" : name} isOpen onClose={onClose} isWide>
      <Form
        submitLabel={conflict === null ? "Save" : "Replace it with mine"}
        error={parseError ?? set.error}
        isBusy={set.isPending}
        onCancel={onClose}
        onSubmit={({ key = name ?? "", value = "" }) => {
          const parsed = parse(value);
          setParseError(parsed.error);
          if (parsed.error === null) void save(key, parsed.value);
        }}
      >
        {name === null && <TextField label="Key" name="key" required />}
        {conflict && (
          <ConflictPart
            conflict={conflict}
            onTake={() => {
              setInitial(conflict.entry);
              setConflict(null);
            }}
          />
        )}
        <TextArea
          key={initial?.version ?? 0}
          label={conflict === null ? "Value" : "Your value"}
          name="value"
          hint="JSON."
          rows={10}
          required
          defaultValue={initial === null ? "{}" : textOf(initial)}
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
