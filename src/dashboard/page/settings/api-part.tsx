/** What a back end needs: the account ID, API keys, an end for users' tokens, and a first request. */
import { useCurrent, useIsOwner } from "../data/organization.tsx";
import { sortedBy, useFilters } from "../data/use-filters.ts";
import { ConfirmButton } from "../ui/confirm.tsx";
import { CodeBlock, Identifier } from "../ui/copy.tsx";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { Pager } from "../ui/table.tsx";
import { firstRequest } from "./first-request.ts";
import { KeyTable } from "./key-table.tsx";
import { NewKey } from "./new-key.tsx";
import { useEndAllTokens, useKeys } from "./use-keys.ts";

export function ApiPart() {
  const { organization } = useCurrent();
  const isOwner = useIsOwner();
  const filters = useFilters();
  const { limit, offset, sort } = filters;
  const order = sortedBy(sort, ["name", "created_at", "last_used_at"]);
  const { data, error, refetch } = useKeys({ limit, offset, ...order });
  return (
    <>
      <section aria-labelledby="account-id">
        <h2 id="account-id">Account ID</h2>
        <Identifier value={organization.id} what="the account ID" isWhole />
      </section>
      <section aria-labelledby="keys">
        <div className="title-row">
          <h2 id="keys">API keys</h2>
          {isOwner && <NewKey />}
        </div>
        {!isOwner && <p className="soft">Only owners can create and revoke API keys.</p>}
        <ErrorMessage error={error} onRetry={refetch} />
        {data === undefined && !error && <Loading />}
        {data && <KeyTable keys={data.api_keys} {...{ isOwner, filters }} />}
        {data?.total === 0 && (
          <p className="soft">No API keys yet. Your back end needs one to call the API.</p>
        )}
        {data && <Pager filters={filters} total={data.total} />}
      </section>
      {isOwner && <TokenEnding />}
      <section aria-labelledby="first-request">
        <h2 id="first-request">Your first request</h2>
        <p className="soft">Creates a room. Replace YOUR_API_KEY with an API key.</p>
        <CodeBlock what="The request" text={firstRequest(location.origin, organization.id, "YOUR_API_KEY")} />
        <p className="soft">
          Read more in the <a href="/docs">documentation</a>.
        </p>
      </section>
    </>
  );
}

function TokenEnding() {
  const end = useEndAllTokens();
  return (
    <section aria-labelledby="tokens">
      <div className="title-row">
        <h2 id="tokens">User tokens</h2>
        <ConfirmButton
          label="End all user tokens"
          title="End all user tokens?"
          confirmLabel="End tokens"
          act={end}
        >
          <p>
            All users of all rooms are disconnected, and need a new token to join again. This cannot be
            undone.
          </p>
        </ConfirmButton>
      </div>
      <p className="soft">End the tokens of all users, for example after a leak.</p>
    </section>
  );
}
