/** The versions of a workflow: who saved each and when, what differs from the saved code, and restoring one. */
import type { Workflow, WorkflowVersionSummary } from "atrium/server";
import { useState } from "react";
import { Badge } from "../ui/badge.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { TextDiff } from "../ui/text-diff.tsx";
import { Time } from "../ui/time.tsx";
import { forgetDraft } from "./use-draft.ts";
import { useRestoreVersion, useVersion, useVersions } from "./use-versions.ts";

export interface VersionsProps {
  readonly workflow: Workflow;
  /** Called when another code than before is saved, and what was not saved is forgotten. */
  readonly onRestored: () => void;
}

export function Versions({ workflow, onRestored }: VersionsProps) {
  const { data, error, refetch } = useVersions(workflow.id);
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ul className="records">
        {data?.versions.map((version) => (
          <VersionRow key={version.version} of={workflow} version={version} onRestored={onRestored} />
        ))}
      </ul>
    </section>
  );
}

interface VersionProps extends Pick<VersionsProps, "onRestored"> {
  readonly of: Workflow;
  readonly version: WorkflowVersionSummary;
}

function VersionRow(props: VersionProps) {
  const [isOpen, setOpen] = useState(false);
  const { version, saved_at, saved_by } = props.version;
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span>Version {version}</span>
          {version === props.of.version && <Badge tone="good">current</Badge>}
          <span className="grow soft">{authorName(saved_by)}</span>
          <Time at={saved_at} />
        </summary>
        {isOpen && <VersionDetail {...props} />}
      </details>
    </li>
  );
}

function authorName(author: WorkflowVersionSummary["saved_by"]): string {
  if (author === null) return "";
  return author.type === "key" ? "by an API key" : `by ${author.name ?? "a person who is gone"}`;
}

function VersionDetail({ of: workflow, version: { version }, onRestored }: VersionProps) {
  const { data, error, refetch } = useVersion(workflow.id, version);
  const restore = useRestoreVersion(workflow.id, version);
  if (data === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  const act = {
    ...restore,
    mutateAsync: async () => {
      await restore.mutateAsync();
      forgetDraft(workflow.id);
      onRestored();
    },
  };
  return (
    <div className="detail">
      {data.code === workflow.code ? (
        <p className="soft">This is the saved code.</p>
      ) : (
        <>
          <TextDiff
            what={`What version ${version} changes of the saved code`}
            before={workflow.code}
            after={data.code}
          />
          <ConfirmButton
            label="Restore"
            accessibleName={`Restore version ${version}`}
            title={`Restore version ${version}?`}
            confirmLabel="Restore version"
            act={act}
          >
            <p>
              Its code is saved again as a new version. What you have not saved in the editor is discarded.
            </p>
          </ConfirmButton>
        </>
      )}
      <CodeBlock what={`Code of version ${version}`} text={data.code} />
    </div>
  );
}
