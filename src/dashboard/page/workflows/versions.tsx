/** The versions of a workflow: who saved each and when, what differs from the saved code, and restoring one. */

import { useQuery } from "@tanstack/react-query";
import type { Workflow, WorkflowVersionSummary } from "atrium/server";
import { useState } from "react";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { ConfirmButton } from "../ui/confirm.tsx";
import { CodeBlock } from "../ui/copy.tsx";
import { Badge, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { TextDiff } from "../ui/text-diff.tsx";
import { Time } from "../ui/time.tsx";
import { forgetDraft } from "./use-draft.ts";

/** As many as are kept. */
const MOST = 50;

function useVersions(workflowId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflow", workflowId, "versions"),
    queryFn: () => atrium.workflows.listVersions(workflowId, { limit: MOST }),
  });
}

/** A version never changes. */
function useVersion(workflowId: string, version: number) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("workflow version", workflowId, version),
    queryFn: () => atrium.workflows.getVersion(workflowId, version),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

function useRestoreVersion(workflowId: string, version: number) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.workflows.restoreVersion(workflowId, version), {
    notice: `Version ${version} restored`,
    invalidates: [key("workflow", workflowId), key("workflows")],
    isForm: true,
  });
}

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
