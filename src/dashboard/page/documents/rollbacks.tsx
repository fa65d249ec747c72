/** Takes back what one user wrote in a document, all of it or since a version. */
import type { DocumentAuthor, DocumentVersion } from "atrium/server";
import { ConfirmButton } from "../ui/confirm.tsx";
import { type DocumentPlace, useRollBack } from "./use-history.ts";
import { titleOf } from "./version-slider.tsx";

export interface RollbacksProps {
  readonly place: DocumentPlace;
  readonly authors: readonly DocumentAuthor[];
  /** Undefined for all that was ever written. */
  readonly since: DocumentVersion | undefined;
  readonly nameOf: (author: DocumentAuthor) => string;
}

/** A button for each user among the authors. */
export function Rollbacks({ place, authors, since, nameOf }: RollbacksProps) {
  const users = new Map(
    authors.flatMap((author) =>
      author.type === "user" && author.id !== null ? [[author.id, nameOf(author)] as const] : [],
    ),
  );
  return (
    <div className="row-actions">
      {[...users].map(([userId, name]) => (
        <Rollback key={userId} {...{ place, userId, name, since }} />
      ))}
    </div>
  );
}

interface RollbackProps extends Pick<RollbacksProps, "place" | "since"> {
  readonly userId: string;
  readonly name: string;
}

function Rollback({ place, userId, name, since }: RollbackProps) {
  const act = useRollBack(place, { userId, ...(since && { from: since.version }) });
  return (
    <ConfirmButton
      label={`Take back ${name}'s changes…`}
      variant="quiet"
      title={`Take back what ${name} wrote${since === undefined ? "" : ` since ${titleOf(since)}`}?`}
      confirmLabel="Take back"
      act={act}
    >
      <p>
        {since === undefined
          ? "This concerns all that the user ever wrote; choose a version first to take back only what came after it. "
          : ""}
        Everyone who has the document open receives this as an edit. What others have written stays, and the
        document as it is becomes a version.
      </p>
    </ConfirmButton>
  );
}
