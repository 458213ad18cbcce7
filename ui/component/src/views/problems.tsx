import { WarningIcon } from "./icons";

const MOST_SHOWN = 5;

/** What the reader of a recording found missing, unreadable or impossible. */
export function Problems({ problems }: { problems: string[] }) {
  if (problems.length === 0) return null;
  return (
    <div class="note" role="alert" data-code="recording_damaged">
      <WarningIcon />
      <div>
        <strong>This recording is not whole, or not right.</strong>
        <p>What is named here is not shown below.</p>
        <ul>
          {problems.slice(0, MOST_SHOWN).map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
        {problems.length > MOST_SHOWN && (
          <details>
            <summary>{problems.length - MOST_SHOWN} more</summary>
            <ul>
              {problems.slice(MOST_SHOWN).map((problem) => (
                <li key={problem}>{problem}</li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </div>
  );
}
