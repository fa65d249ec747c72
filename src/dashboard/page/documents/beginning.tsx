/** The beginning of a document that is too large to be read whole. */
import { AtriumError, type DocumentSummary } from "atrium/server";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { formatSize } from "../ui/size.ts";
import { ContentView } from "./content-view.tsx";
import { useBeginning } from "./use-beginning.ts";
import type { Chosen } from "./use-choice.ts";
import type { DocumentPlace } from "./use-history.ts";

export interface BeginningViewProps {
  readonly place: DocumentPlace;
  readonly document: DocumentSummary;
  readonly version: Chosen;
}

export function BeginningView({ place, document: { bytes, seq }, version }: BeginningViewProps) {
  const { data, error, refetch } = useBeginning(place, { version, seq });
  if (error instanceof AtriumError && error.code === "CONFLICT")
    return (
      <p className="soft">
        With {formatSize(bytes)}, the document is too large to be shown here. You can download its update.
      </p>
    );
  return (
    <>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data?.isTruncated && (
        <p className="soft">
          The document has {formatSize(bytes)}: this is the beginning of what it says. It is too large to be
          compared or restored; you can download its update.
        </p>
      )}
      {data !== undefined && <ContentView roots={data.roots} />}
    </>
  );
}
