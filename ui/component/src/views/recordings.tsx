import { seconds } from "../delays";
import { useCalls } from "../live";
import { clock } from "../player";
import { WarningIcon } from "./icons";

/** One file of the folder; without `began` it is no recording, and `problem` says why. */
export interface Listed {
  name: string;
  began?: string;
  length_ms?: number;
  turns?: number;
  slowest_gap_ms?: number | null;
  problems?: number;
  problem?: string;
}

interface Props {
  list: Listed[];
  left_out: number;
  open(name: string): void;
  watch(room: string): void;
}

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** The recordings to choose from, the newest first. */
export function Recordings({ list, left_out, open, watch }: Props) {
  return (
    <div class="app library">
      <GoingOn watch={watch} />
      <h1>Recorded calls</h1>
      {list.length > 0 && <Table list={list} open={open} />}
      {left_out > 0 && (
        <p class="small">
          {left_out} older recordings are not listed; a link that names one opens it.
        </p>
      )}
    </div>
  );
}

/** The calls that go on now; nothing where there are none. */
function GoingOn({ watch }: Pick<Props, "watch">) {
  const calls = useCalls();
  return (
    <div aria-live="polite">
      {calls.map(({ room, began }) => (
        <button key={room} class="quiet going-on" data-room={room} onClick={() => watch(room)}>
          <i aria-hidden="true" />
          Watch the call that goes on since {TIME.format(new Date(began))}
        </button>
      ))}
    </div>
  );
}

function Table({ list, open }: Pick<Props, "list" | "open">) {
  return (
    <table class="card">
      <thead>
        <tr>
          <th scope="col">Call</th>
          <th scope="col">Length</th>
          <th scope="col">Turns</th>
          <th scope="col">Slowest gap</th>
        </tr>
      </thead>
      <tbody>
        {list.map((one) =>
          one.began === undefined ? (
            <tr key={one.name}>
              <td colSpan={4} class="broken">
                {one.problem}
              </td>
            </tr>
          ) : (
            <tr key={one.name}>
              <th scope="row">
                <button class="link" title={one.name} onClick={() => open(one.name)}>
                  {WHEN.format(new Date(one.began))}
                </button>
                {Boolean(one.problems) && (
                  <span class="damaged" title="Its reader found problems; open it to see them">
                    <WarningIcon />
                    <span class="for-screen-readers">has problems</span>
                  </span>
                )}
              </th>
              <td data-label="Length">{clock(one.length_ms ?? 0)}</td>
              <td data-label="Turns">{one.turns}</td>
              <td data-label="Slowest gap">{seconds(one.slowest_gap_ms ?? null)}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}
