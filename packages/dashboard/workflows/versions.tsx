/** Versions of a workflow: author and time, differences from the saved code, and restoring. */

import type { Workflow, WorkflowVersionSummary } from "atrium/server";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { CodeBlock } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { Badge, Details, Loaded } from "../ui/feedback.tsx";
import { Section } from "../ui/page.tsx";
import { TextDiff } from "../ui/text-diff.tsx";
import { Time } from "../ui/time.tsx";
import { forgetDraft } from "./draft.ts";

/** All kept versions. */
const MAX_VERSIONS = 50;

interface VersionsProps {
  readonly workflow: Workflow;
}

export function Versions({ workflow }: VersionsProps) {
  const versions = useApiQuery(["workflow", workflow.id, "versions"], ({ workflows }) =>
    workflows.listVersions(workflow.id, { limit: MAX_VERSIONS }),
  );
  return (
    <Section id="versions" title="Versions">
      <Loaded query={versions} shape="list">
        {(data) => (
          <ul className="records">
            {data.versions.map(({ version, saved_at, saved_by }) => (
              <li key={version}>
                <Details
                  summary={
                    <>
                      <span>Version {version}</span>
                      {version === workflow.version && <Badge tone="good">current</Badge>}
                      <span className="grow soft">{authorName(saved_by)}</span>
                      <Time at={saved_at} />
                    </>
                  }
                >
                  <VersionDetail {...{ workflow, version }} />
                </Details>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

function authorName(author: WorkflowVersionSummary["saved_by"]): string {
  if (author === null) return "";
  return author.type === "key" ? "by an API key" : `by ${author.name ?? "a person who is gone"}`;
}

/** A version never changes. */
function VersionDetail({ workflow, version }: VersionsProps & { readonly version: number }) {
  const { id, code: savedCode } = workflow;
  const query = useApiQuery(
    ["workflow version", id, version],
    ({ workflows }) => workflows.getVersion(id, version),
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const restore = useAction(({ workflows }) => workflows.restoreVersion(id, version), {
    toast: `Version ${version} restored`,
    refreshes: [["workflow", id], ["workflows"]],
    onDone: () => forgetDraft(id),
  });
  return (
    <Loaded query={query} shape="list">
      {({ code }) => (
        <div className="detail">
          {code === savedCode ? (
            <p className="soft">This is the saved code.</p>
          ) : (
            <>
              <TextDiff
                what={`What version ${version} changes of the saved code`}
                before={savedCode}
                after={code}
              />
              <ConfirmButton
                label="Restore"
                accessibleName={`Restore version ${version}`}
                title={`Restore version ${version}?`}
                confirmLabel="Restore version"
                action={restore}
              >
                <p>Its code is saved again as a new version. Unsaved code in the editor is discarded.</p>
              </ConfirmButton>
            </>
          )}
          <CodeBlock what={`Code of version ${version}`} text={code} />
        </div>
      )}
    </Loaded>
  );
}
