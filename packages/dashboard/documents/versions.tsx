/** The versions of a document to choose from, as a slider and as a list, and the actions on them. */

import type { DocumentAuthor, DocumentVersion } from "atrium/server";
import { type ReactNode, useId } from "react";
import { joinNames } from "../data/messages.ts";
import { ScrollBox } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { NameField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Time } from "../ui/time.tsx";
import { type Chosen, type DocumentPlace, titleOf, useHistoryAction } from "./history.ts";

interface VersionSliderProps {
  /** Newest first. */
  readonly versions: readonly DocumentVersion[];
  readonly chosen: Chosen;
  readonly onChoose: (version: Chosen) => void;
}

/** A slider from the oldest version to the document as it is. */
export function VersionSlider({ versions, chosen, onChoose }: VersionSliderProps) {
  const id = useId();
  const oldestFirst = versions.toReversed();
  const found = oldestFirst.findIndex(({ version }) => version === chosen);
  const place = found === -1 ? oldestFirst.length : found;
  const shown = oldestFirst[place];
  return (
    <div className="version-slider">
      <label htmlFor={id}>Version</label>
      <input
        id={id}
        type="range"
        min={0}
        max={oldestFirst.length}
        value={place}
        disabled={oldestFirst.length === 0}
        aria-valuetext={shown === undefined ? "Now" : titleOf(shown)}
        list={`${id}-named`}
        onChange={(event) => onChoose(oldestFirst[event.currentTarget.valueAsNumber]?.version ?? null)}
      />
      <datalist id={`${id}-named`}>
        {oldestFirst.map(
          ({ version, name }, index) => name !== null && <option key={version} value={index} />,
        )}
      </datalist>
      <output htmlFor={id}>{shown === undefined ? "Now" : titleOf(shown)}</output>
    </div>
  );
}

interface VersionListProps extends VersionSliderProps {
  readonly nameOf: (author: DocumentAuthor) => string;
}

export const VersionList = ({ versions, chosen, onChoose, nameOf }: VersionListProps) => (
  <ScrollBox className="version-list" label="List of versions">
    <ol>
      <li>
        <VersionButton isChosen={chosen === null} onChoose={() => onChoose(null)}>
          <strong>Now</strong>
        </VersionButton>
      </li>
      {versions.map((version) => (
        <li key={version.version}>
          <VersionButton isChosen={version.version === chosen} onChoose={() => onChoose(version.version)}>
            {version.name === null ? <span>{titleOf(version)}</span> : <strong>{version.name}</strong>}
            <Time at={version.updated_at} />
            <span className="soft">{joinNames(version.authors.map(nameOf))}</span>
          </VersionButton>
        </li>
      ))}
    </ol>
  </ScrollBox>
);

interface VersionButtonProps {
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}

const VersionButton = ({ isChosen, onChoose, children }: VersionButtonProps) => (
  <button type="button" aria-current={isChosen ? "true" : undefined} onClick={onChoose}>
    {children}
  </button>
);

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
    toast: (applied) => (applied ? "Version restored" : "The document shows this version already"),
    onDone: onLeave,
  });
  const remove = useHistoryAction(place, (documents) => documents.deleteVersion(roomId, name, version), {
    toast: "Version deleted",
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
          Everyone who has the document open receives this as an edit. Their edits until the service has read
          the document are taken back too; later edits stay. The document as it is becomes a version, to which
          you can go back.
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
        <p>This point of the history can no longer be shown or restored. The content stays.</p>
      </ConfirmButton>
    </div>
  );
}

function Rename({ place, version: { name, version } }: Omit<VersionActionsProps, "onLeave">) {
  const title = titleOf({ name, version });
  const rename = useHistoryAction(
    place,
    (documents, next: string | null) => documents.renameVersion(place.roomId, place.name, version, next),
    {
      toast: "Version saved",
      undo: ({ documents }) => documents.renameVersion(place.roomId, place.name, version, name),
    },
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
      <NameField
        required={false}
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
    { toast: "Version named" },
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
      <NameField />
    </FormDialog>
  );
}
