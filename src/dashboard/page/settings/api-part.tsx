/** What a back end needs: the Account ID, API keys, and a request to begin with. */
import type { ApiKey } from "atrium/server";
import { useCurrent, useIsOwner } from "../data/organization.tsx";
import { usePage } from "../data/use-page.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Refusal } from "../ui/error-message.tsx";
import { Identifier } from "../ui/identifier.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { firstRequest } from "./first-request.ts";
import { NewKey } from "./new-key.tsx";
import { useKeys, useRevokeKey } from "./use-keys.ts";

export function ApiPart() {
  const { organization } = useCurrent();
  const isOwner = useIsOwner();
  const { limit, offset, turnTo } = usePage();
  const { data, error, refetch } = useKeys({ limit, offset });
  return (
    <>
      <section aria-labelledby="account-id">
        <h2 id="account-id">Account ID</h2>
        <Identifier value={organization.id} what="the Account ID" isWhole />
      </section>
      <section aria-labelledby="keys">
        <div className="title-row">
          <h2 id="keys">API keys</h2>
          {isOwner && <NewKey />}
        </div>
        {!isOwner && <p className="soft">Owners of the organization make and revoke them.</p>}
        <Refusal error={error} onRetry={refetch} />
        {data === undefined && !error && <Loading />}
        {data && data.api_keys.length > 0 && <KeyTable keys={data.api_keys} isOwner={isOwner} />}
        {data?.total === 0 && (
          <p className="soft">No keys yet. Your back end needs one to ask for anything.</p>
        )}
        {data && <Pager offset={offset} limit={limit} total={data.total} turnTo={turnTo} />}
      </section>
      <section aria-labelledby="first-request">
        <h2 id="first-request">A first request</h2>
        <p className="soft">Makes a room. Put an API key in the place of YOUR_API_KEY.</p>
        <CodeBlock what="The request" text={firstRequest(location.origin, organization.id, "YOUR_API_KEY")} />
        <p className="soft">
          Everything else is in the <a href="/docs">documentation</a>.
        </p>
      </section>
    </>
  );
}

const KeyTable = ({ keys, isOwner }: { readonly keys: readonly ApiKey[]; readonly isOwner: boolean }) => (
  <Table label="List of API keys" columns={["Name", "Key", "Made", "Last used", "!Actions"]}>
    {keys.map((key) => (
      <tr key={key.id}>
        <th scope="row">{key.name}</th>
        <td>
          <code>
            {key.prefix}…{key.last_four}
          </code>
        </td>
        <td>
          <Time at={key.created_at} />
        </td>
        <td>
          {key.last_used_at === null ? <span className="soft">never</span> : <Time at={key.last_used_at} />}
        </td>
        <td className="row-actions">{isOwner && <Revocation apiKey={key} />}</td>
      </tr>
    ))}
  </Table>
);

function Revocation({ apiKey }: { readonly apiKey: ApiKey }) {
  const revoke = useRevokeKey(apiKey.id);
  return (
    <ConfirmButton
      label="Revoke"
      accessibleName={`Revoke ${apiKey.name}`}
      look="quiet"
      title={`Revoke ${apiKey.name}?`}
      verb="Revoke key"
      act={revoke}
    >
      <p>Whatever uses it is refused within 30 seconds. This cannot be undone.</p>
    </ConfirmButton>
  );
}
