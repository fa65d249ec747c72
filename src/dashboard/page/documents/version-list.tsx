/** The versions of a document, newest first, to choose from. */
import type { DocumentAuthor, DocumentVersion } from "atrium/server";
import { Time } from "../ui/time.tsx";
import { joinNames } from "./use-author-names.ts";
import type { Chosen } from "./use-choice.ts";
import { titleOf } from "./version-slider.tsx";

export interface VersionListProps {
  readonly versions: readonly DocumentVersion[];
  readonly chosen: Chosen;
  readonly onChoose: (version: Chosen) => void;
  readonly nameOf: (author: DocumentAuthor) => string;
}

export const VersionList = ({ versions, chosen, onChoose, nameOf }: VersionListProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <section className="scroll version-list" tabIndex={0} aria-label="List of versions">
    <ol>
      <li>
        <Choice isChosen={chosen === null} onChoose={() => onChoose(null)}>
          <strong>Now</strong>
        </Choice>
      </li>
      {versions.map((version) => (
        <li key={version.version}>
          <Choice isChosen={version.version === chosen} onChoose={() => onChoose(version.version)}>
            {version.name === null ? <span>{titleOf(version)}</span> : <strong>{version.name}</strong>}
            <Time at={version.updated_at} />
            <span className="soft">{joinNames(version.authors.map(nameOf))}</span>
          </Choice>
        </li>
      ))}
    </ol>
  </section>
);

interface ChoiceProps {
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: React.ReactNode;
}

const Choice = ({ isChosen, onChoose, children }: ChoiceProps) => (
  <button type="button" aria-current={isChosen ? "true" : undefined} onClick={onChoose}>
    {children}
  </button>
);
