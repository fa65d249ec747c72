/** Names, renames, restores and deletes a version of a document; names the document as it is. */
import type { DocumentVersion } from "atrium/server";
import { ConfirmButton, FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { type DocumentPlace, titleOf, useHistoryAction } from "./history.ts";

const MAX_NAME_LENGTH = 255;

interface VersionActionsProps {
  readonly place: DocumentPlace;
  readonly version: DocumentVersion;
  /** Called when the version is deleted, or the document has become like it. */
  readonly onLeave: () => void;
}

export function VersionActions({ place, version: shown, onLeave }: VersionActionsProps) {
  const { roomId, name } = place;
  const { version } = shown;
  const title = titleOf(shown);
  const restore = useHistoryAction(place, (documents) => documents.restoreVersion(roomId, name, version), {
    notice: (applied) => (applied ? "Version restored" : "The document shows this version already"),
    onDone: onLeave,
  });
  const remove = useHistoryAction(place, (documents) => documents.deleteVersion(roomId, name, version), {
    notice: "Version deleted",
    onDone: onLeave,
  });
  return (
    <div className="row-actions">
      <ConfirmButton
        label="Restore…"
        accessibleName={`Restore… ${title}`}
        title={`Restore ${title}?`}
        confirmLabel="Restore version"
        action={restore}
      >
        <p>
          Everyone who has the document open receives this as an edit. What they write until the service has
          read the document for it is taken back too; what they write later stays. The document as it is
          becomes a version, to which you can go back.
        </p>
      </ConfirmButton>
      <Rename key={version} place={place} version={shown} />
      <ConfirmButton
        label="Delete version…"
        accessibleName={`Delete version… ${title}`}
        variant="quiet"
        title={`Delete ${title}?`}
        confirmLabel="Delete version"
        action={remove}
      >
        <p>
          This point of the history can no longer be shown or restored. Nothing that was written is deleted.
        </p>
      </ConfirmButton>
    </div>
  );
}

function Rename({ place, version: { name, version } }: Omit<VersionActionsProps, "onLeave">) {
  const title = titleOf({ name, version });
  const rename = useHistoryAction(
    place,
    (documents, next: string | null) => documents.renameVersion(place.roomId, place.name, version, next),
    { notice: "Version saved" },
  );
  const label = name === null ? "Name…" : "Rename…";
  return (
    <FormDialog
      button={{ "aria-label": `${label} ${title}`, children: label }}
      title={`Name of ${title}`}
      submitLabel="Save"
      action={rename}
      toInput={({ name: next = "" }) => next || null}
    >
      <TextField
        label="Name"
        name="name"
        maxLength={MAX_NAME_LENGTH}
        defaultValue={name ?? ""}
        hint="A version with a name is kept until you delete it. Without one, it is dropped with the trail."
      />
    </FormDialog>
  );
}

/** Names the document as it is. */
export function NewVersion({ place }: Pick<VersionActionsProps, "place">) {
  const create = useHistoryAction(
    place,
    (documents, name: string) => documents.createVersion(place.roomId, place.name, name),
    { notice: "Version named" },
  );
  return (
    <FormDialog
      button={{ "data-shortcut": "new", children: "Name this version…" }}
      title="Name the document as it is"
      about="You can show, compare and restore it later."
      submitLabel="Save version"
      action={create}
      toInput={({ name = "" }) => name}
    >
      <TextField label="Name" name="name" required maxLength={MAX_NAME_LENGTH} />
    </FormDialog>
  );
}
