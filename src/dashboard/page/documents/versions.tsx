/** The versions of a document to choose from: as a slider and as a list. */
import type { DocumentAuthor, DocumentVersion } from "atrium/server";
import { type ReactNode, useId } from "react";
import { Time } from "../ui/time.tsx";
import { type Chosen, joinNames, titleOf } from "./history.ts";

interface VersionSliderProps {
  /** Newest first. */
  readonly versions: readonly DocumentVersion[];
  readonly chosen: Chosen;
  readonly onChoose: (version: Chosen) => void;
}

/** From the oldest version to the document as it is. */
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
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <section className="scroll version-list" tabIndex={0} aria-label="List of versions">
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
  </section>
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
