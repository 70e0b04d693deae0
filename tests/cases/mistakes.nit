import os
$x = "".__class__.__mro__
$total = $a + $b
if $x: stop()
$x += 1
$rows.0.title
send(**$options)
send("a" b="c")
call(name="x")
$x.y = 1
$list = [i for i in $rows]
good($list, $total)
f"{1 + 1} {$x!z}"
{"a": 1, 'a': 2}
f(a=1, 2)
Here is the result:
