/** What an entry has become while it was edited, and the choice to go on with that. */
import type { Entry } from "atrium/server";
import { Button } from "../ui/button.tsx";
import { CodeBlock } from "../ui/code-block.tsx";

/** What the entry has become while it was edited; null for `entry` when it was deleted. */
export interface Conflict {
  readonly entry: Entry | null;
}

export const textOf = (entry: Entry): string => JSON.stringify(entry.value, null, 2);

interface ConflictPartProps {
  readonly conflict: Conflict;
  /** Goes on with the current value instead of one's own. */
  readonly onTake: () => void;
}

export const ConflictPart = ({ conflict: { entry }, onTake }: ConflictPartProps) =>
  entry === null ? (
    <p role="alert">The entry was deleted while you edited it. Saving creates it again.</p>
  ) : (
    <div className="form" role="alert">
      <p>The entry has changed while you edited it. It is now:</p>
      <CodeBlock text={textOf(entry)} what="Current value" />
      <Button onClick={onTake}>Edit this one instead</Button>
    </div>
  );
