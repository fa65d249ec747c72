/** Names, renames, restores and deletes a version of a document; names the document as it is. */
import type { DocumentVersion } from "atrium/server";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import {
  type DocumentPlace,
  useCreateVersion,
  useDeleteVersion,
  useRenameVersion,
  useRestoreVersion,
} from "./use-history.ts";
import { titleOf } from "./version-slider.tsx";

const MAX_NAME_LENGTH = 255;

interface VersionActionsProps {
  readonly place: DocumentPlace;
  readonly version: DocumentVersion;
  /** Called when the version is deleted, or the document has become like it. */
  readonly onLeave: () => void;
}

export function VersionActions({ place, version, onLeave }: VersionActionsProps) {
  const title = titleOf(version);
  const restore = useRestoreVersion(place, version.version);
  const remove = useDeleteVersion(place, version.version);
  const leavingAfter = <Result,>(action: { mutateAsync: () => Promise<Result> }) => ({
    mutateAsync: async () => {
      await action.mutateAsync();
      onLeave();
    },
  });
  return (
    <div className="row-actions">
      <ConfirmButton
        label="Restore…"
        accessibleName={`Restore… ${title}`}
        title={`Restore ${title}?`}
        confirmLabel="Restore version"
        act={{ ...restore, ...leavingAfter(restore) }}
      >
        <p>
          Everyone who has the document open receives this as an edit. What they write until the service has
          read the document for it is taken back too; what they write later stays. The document as it is
          becomes a version, to which you can go back.
        </p>
      </ConfirmButton>
      <Rename key={version.version} place={place} version={version} />
      <ConfirmButton
        label="Delete version…"
        accessibleName={`Delete version… ${title}`}
        variant="quiet"
        title={`Delete ${title}?`}
        confirmLabel="Delete version"
        act={{ ...remove, ...leavingAfter(remove) }}
      >
        <p>
          This point of the history can no longer be shown or restored. Nothing that was written is deleted.
        </p>
      </ConfirmButton>
    </div>
  );
}

function Rename({ place, version }: Pick<VersionActionsProps, "place" | "version">) {
  const [isOpen, setOpen] = useState(false);
  const rename = useRenameVersion(place, version.version);
  const close = () => setOpen(false);
  const label = version.name === null ? "Name…" : "Rename…";
  return (
    <>
      <Button aria-label={`${label} ${titleOf(version)}`} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog title={`Name of ${titleOf(version)}`} isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Save"
          error={rename.error}
          isBusy={rename.isPending}
          onCancel={close}
          onSubmit={({ name = "" }) => rename.mutate(name === "" ? null : name, { onSuccess: close })}
        >
          <TextField
            label="Name"
            name="name"
            maxLength={MAX_NAME_LENGTH}
            defaultValue={version.name ?? ""}
            hint="A version with a name is kept until you delete it. Without one, it is dropped with the trail."
          />
        </Form>
      </Dialog>
    </>
  );
}

/** The button and dialog that name the document as it is. */
export function NewVersion({ place }: { readonly place: DocumentPlace }) {
  const [isOpen, setOpen] = useState(false);
  const create = useCreateVersion(place);
  const close = () => setOpen(false);
  return (
    <>
      <Button data-shortcut="new" onClick={() => setOpen(true)}>
        Name this version…
      </Button>
      <Dialog
        title="Name the document as it is"
        about="You can show, compare and restore it later."
        isOpen={isOpen}
        onClose={close}
      >
        <Form
          submitLabel="Save version"
          error={create.error}
          isBusy={create.isPending}
          onCancel={close}
          onSubmit={({ name = "" }) => create.mutate(name, { onSuccess: close })}
        >
          <TextField label="Name" name="name" required maxLength={MAX_NAME_LENGTH} />
        </Form>
      </Dialog>
    </>
  );
}
