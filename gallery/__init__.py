"""Examples: one module = one mechanism or system, its figures and the numbers it is tested by.

Every module has `model(...)` (builds it), `run(...)` (simulates it), `figures()` (name -> Figure),
`number()` (what `gallery.references` compares with numbers from outside) and `main()`:
`python -m gallery.slider_crank` prints a summary and writes the figures to build/gallery/slider_crank/.
"""
