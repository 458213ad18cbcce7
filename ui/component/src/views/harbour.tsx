/** The view from the hotel, in the theme's own colours. */

const WINDOWS = [0, 1, 2].flatMap((row) => [0, 1, 2, 3, 4].map((column) => ({ row, column })));
const LIT = new Set(["0.1", "0.4", "1.2", "2.0", "2.3"]);

export const Harbour = () => (
  <svg class="harbour" viewBox="0 0 480 168" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
    <rect class="sky" width="480" height="168" />
    <circle class="sun" cx="352" cy="62" r="26" />
    <path class="far" d="M0 110 C60 78 96 96 140 84 S236 58 290 90 388 76 480 98 V168 H0z" />
    <path class="near" d="M0 122 C40 104 80 112 128 108 S190 118 236 124 H480 V168 H0z" />
    <g class="hotel">
      <path d="M64 112 V62 h8 v-8 h56 v8 h8 v50z" />
      <path d="M98 54 V42 h2 v12z" />
      <path class="flag" d="M100 42 l14 4 -14 4z" />
      {WINDOWS.map(({ row, column }) => (
        <rect
          key={`${row}.${column}`}
          class={LIT.has(`${row}.${column}`) ? "window lit" : "window"}
          x={71.5 + column * 12}
          y={66 + row * 14}
          width="8"
          height="8"
          rx="1"
        />
      ))}
    </g>
    <g class="lighthouse">
      <path d="M399 124 l4 -52 h10 l4 52z" />
      <path d="M401 70 h14 v-3 h-2 v-9 h-10 v9 h-2z" />
      <path class="beam" d="M403 60 L300 40 V84z" />
    </g>
    <rect class="water" y="122" width="480" height="46" />
    <g class="ripples">
      <path d="M330 132 h44 M342 140 h22 M324 150 h30 M352 158 h18" />
      <path d="M40 136 h26 M120 146 h40 M210 138 h18 M196 156 h34 M424 148 h34" />
    </g>
    <g class="boat">
      <path d="M226 130 h40 l-6 9 h-28z" />
      <path d="M245 128 V100 l18 26z M243 128 V106 l-12 20z" />
    </g>
  </svg>
);
