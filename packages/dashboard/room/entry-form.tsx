/** The dialog that sets an entry of a store. */
import { AtriumError, type Entry } from "atrium/server";
import { useState } from "react";
import { orNull, useAction, useCurrent } from "../data/organization.tsx";
import { Button, CodeBlock } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";

/** Prefixes of the queries that a write to a store concerns. */
export const queriesOf = (roomId: string, store: string) => [
  ["room", roomId, "entries", store],
  ["room", roomId, "stores"],
];

/** The entry as it became while it was edited; null for `entry` when it was deleted. */
interface Conflict {
  readonly entry: Entry | null;
}

interface EntryFormProps {
  readonly roomId: string;
  readonly store: string;
  /** Null for a new one. */
  readonly name: string | null;
  readonly entry: Entry | null;
  readonly onClose: () => void;
}

interface EntryWrite {
  readonly key: string;
  readonly value: unknown;
}

const textOf = (entry: Entry): string => JSON.stringify(entry.value, null, 2);

export function EntryForm({ roomId, store, name, entry, onClose }: EntryFormProps) {
  const { stores } = useCurrent().atrium;
  const [parseError, setParseError] = useState<Error | null>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  /** The value that the text field begins with: another one starts anew. */
  const [initial, setInitial] = useState(entry);
  const known = conflict === null ? initial : conflict.entry;
  const set = useAction(
    (_, { key, value }: EntryWrite) =>
      stores.set(roomId, store, key, value, { ifVersion: known?.version ?? 0 }),
    {
      toast: "Entry saved",
      // Not over a change that someone else has made meanwhile.
      undo: ({ stores }, { version: ifVersion }, { key }): Promise<unknown> =>
        known
          ? stores.set(roomId, store, key, known.value, { ifVersion })
          : stores.delete(roomId, store, key, { ifVersion }),
      refreshes: queriesOf(roomId, store),
      onDone: onClose,
    },
  );
  const save = async (write: EntryWrite) => {
    try {
      await set.mutateAsync(write);
    } catch (error) {
      if (!(error instanceof AtriumError) || error.code !== "CONFLICT") return; // the form shows it
      const current = await orNull(stores.get(roomId, store, write.key)).catch(() => undefined);
      if (current === undefined) return;
      set.reset();
      setConflict({ entry: current });
    }
  };
  const toInput = ({ key = name ?? "", value = "" }) => {
    try {
      setParseError(null);
      return { key, value: JSON.parse(value) as unknown };
    } catch (error) {
      setParseError(
        new Error(`The value is not valid JSON: ${error instanceof Error ? error.message : ""}.`),
      );
      return undefined;
    }
  };
  return (
    <Dialog title={name === null ? "New entry" : name} isOpen onClose={onClose} isWide>
      <Form
        submitLabel={conflict === null ? "Save" : "Replace it with mine"}
        action={{
          isPending: set.isPending,
          error: parseError ?? set.error,
          mutate: (write) => void save(write),
        }}
        toInput={toInput}
        onCancel={onClose}
      >
        {name === null && <TextField label="Key" name="key" required />}
        {conflict && (
          <CurrentValue
            {...conflict}
            onTake={() => {
              setInitial(conflict.entry);
              setConflict(null);
            }}
          />
        )}
        <TextField
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

interface CurrentValueProps extends Conflict {
  /** Goes on with the current value instead of one's own. */
  readonly onTake: () => void;
}

const CurrentValue = ({ entry, onTake }: CurrentValueProps) =>
  entry === null ? (
    <p role="alert">The entry was deleted while you edited it. Saving creates it again.</p>
  ) : (
    <div className="form" role="alert">
      <p>The entry has changed while you edited it. It is now:</p>
      <CodeBlock text={textOf(entry)} what="Current value" />
      <Button onClick={onTake}>Edit this one instead</Button>
    </div>
  );
