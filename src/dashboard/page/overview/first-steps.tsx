/** First steps for a new organization. */
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { NewRoom } from "../rooms/new-room.tsx";

export function FirstSteps() {
  const address = useAddress();
  return (
    <section className="steps" aria-labelledby="first-steps">
      <h2 id="first-steps">Get started in three steps</h2>
      <ol>
        <li>
          <div>
            <h3>Create a room</h3>
            <p className="soft">A room is a space your users share, such as a board, a document or a call.</p>
          </div>
          <NewRoom />
        </li>
        <li>
          <div>
            <h3>Get an API key</h3>
            <p className="soft">Your back end uses it to create users and get a token for each of them.</p>
          </div>
          <Link className="button plain" href={address("/settings")}>
            API keys
          </Link>
        </li>
        <li>
          <div>
            <h3>Join from a browser</h3>
            <p className="soft">
              All the SDK needs is a user's token:{" "}
              <code>new AtriumClient({"{ serverUrl, authToken }"}).join()</code>
            </p>
          </div>
          <a className="button plain" href="/docs">
            Documentation
          </a>
        </li>
      </ol>
    </section>
  );
}
