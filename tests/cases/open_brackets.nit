$a = search(q="x", filters=[1, 2
$b = search(q="y")
merge(
  left=$a,
  right=$b
$c = 1
note(text="first line
second line")
note(text="it's fine")
f(x=[1)
g(y={"k": 2]
h()
