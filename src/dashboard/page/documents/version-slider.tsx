/** Goes through a document's versions, from the oldest to the document as it is. */
import type { DocumentVersion } from "atrium/server";
import { useId } from "react";
import type { Chosen } from "./use-choice.ts";

export interface VersionSliderProps {
  /** Newest first. */
  readonly versions: readonly DocumentVersion[];
  readonly chosen: Chosen;
  readonly onChoose: (version: Chosen) => void;
}

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

/** Its name, or its number. */
export const titleOf = ({ name, version }: Pick<DocumentVersion, "name" | "version">): string =>
  name ?? `Version ${version}`;
