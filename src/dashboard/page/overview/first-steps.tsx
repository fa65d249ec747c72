/** What a new organization does first. */
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { NewRoom } from "../rooms/new-room.tsx";

export function FirstSteps() {
  const address = useAddress();
  return (
    <section className="steps" aria-labelledby="first-steps">
      <h2 id="first-steps">Three steps to something live</h2>
      <ol>
        <li>
          <div>
            <h3>Make a room</h3>
            <p className="soft">A room is what your users share: a board, a document, a call.</p>
          </div>
          <NewRoom />
        </li>
        <li>
          <div>
            <h3>Get an API key</h3>
            <p className="soft">Your back end makes users with it, and gives each of them a token.</p>
          </div>
          <Link className="button plain" href={address("/settings")}>
            API keys
          </Link>
        </li>
        <li>
          <div>
            <h3>Join from a browser</h3>
            <p className="soft">
              With the SDK, a token is all it takes:{" "}
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
