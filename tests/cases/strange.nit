f(a=​1)
$x = 5 # ‮ hidden
g(b=−5)
h(c=`x`)
$1
${x}
k(a = 1)
__import__(name="os")
