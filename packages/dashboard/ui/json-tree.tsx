/** JSON as a tree with its changes. */
import { useState } from "react";
import { Button } from "./button.tsx";
import { isContainer, previewOf } from "./json-preview.ts";

/** The number of changes since the component appeared: as a key, it restarts an animation. */
function useChangeCount(value: unknown): number {
  const [seen, setSeen] = useState({ value, count: 0 });
  if (Object.is(seen.value, value)) return seen.count;
  const count = seen.count + 1;
  setSeen({ value, count });
  return count;
}

/** Larger pages are slow to render. */
const PAGE_SIZE = 100;
const MAX_STRING = 1_000;

interface JsonTreeProps {
  /** The value's name; its key, in an object. */
  readonly name?: string | undefined;
  /** The same object as before where nothing has changed. */
  readonly value: unknown;
  readonly isOpen?: boolean;
  /** True if the value arrived after the tree around it was shown. */
  readonly isNew?: boolean;
}

/** The number of values in a container. */
const countOf = (value: object): number => (Array.isArray(value) ? value.length : Object.keys(value).length);

export function JsonTree({ name, value, isOpen = false, isNew = false }: JsonTreeProps) {
  const changes = useChangeCount(value) + (isNew ? 1 : 0);
  if (isContainer(value) && countOf(value) > 0)
    return <JsonBranch {...{ name, value, changes }} isOpenAtFirst={isOpen} />;
  return (
    <div className="json-node">
      <Name name={name} />
      <Leaf key={changes} value={value} isChanged={changes > 0} />
    </div>
  );
}

const Name = ({ name }: { readonly name: string | undefined }) =>
  name === undefined ? null : <span className="json-name">{name}</span>;

interface JsonBranchProps extends Pick<JsonTreeProps, "name"> {
  readonly value: object;
  readonly changes: number;
  readonly isOpenAtFirst: boolean;
}

function JsonBranch({ name, value, changes, isOpenAtFirst }: JsonBranchProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <details className="json-node" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        {/* An open part shows below what of it has changed. */}
        <code
          key={isOpen ? "open" : changes}
          className={!isOpen && changes > 0 ? "json-preview changed" : "json-preview"}
        >
          {isOpen ? sizeOf(value) : previewOf(value)}
        </code>
      </summary>
      {isOpen && <JsonChildren entries={Object.entries(value)} />}
    </details>
  );
}

const sizeOf = (value: object): string => {
  const count = countOf(value).toLocaleString("en");
  return Array.isArray(value) ? `[${count}]` : `{${count}}`;
};

interface JsonChildrenProps {
  readonly entries: readonly (readonly [key: string, value: unknown])[];
}

function JsonChildren({ entries }: JsonChildrenProps) {
  const [known] = useState(() => new Set(entries.map(([key]) => key)));
  const [shown, setShown] = useState(PAGE_SIZE);
  const left = entries.length - shown;
  return (
    <>
      <ul className="json-children">
        {entries.slice(0, shown).map(([key, value]) => (
          <li key={key}>
            <JsonTree name={key} value={value} isNew={!known.has(key)} />
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button variant="quiet" onClick={() => setShown(shown + PAGE_SIZE)}>
          Show {Math.min(left, PAGE_SIZE)} more of {left.toLocaleString("en")}
        </Button>
      )}
    </>
  );
}

function Leaf({ value, isChanged }: { readonly value: unknown; readonly isChanged: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = typeof value === "string" && value.length > MAX_STRING && !isWhole;
  const kind = value === null ? "null" : typeof value;
  return (
    <>
      <code className={isChanged ? `json-${kind} changed` : `json-${kind}`}>
        {isLong ? `${JSON.stringify(value.slice(0, MAX_STRING)).slice(0, -1)}…` : JSON.stringify(value)}
      </code>
      {isLong && (
        <Button variant="quiet" onClick={() => setWhole(true)}>
          Show all {value.length.toLocaleString("en")} characters
        </Button>
      )}
    </>
  );
}
