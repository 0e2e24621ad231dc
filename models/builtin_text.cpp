// The built-in text: of our own writing, in Chinese and English.
#include "models/text.hpp"

namespace ringside {

const std::string& builtin_text() {
  static const std::string text =
      R"(小明把苹果给了小王。小王把苹果切成八块，分给围坐一圈的八个同学。
每个同学手里都有一块，大家约好：把自己的那块传给右边的人，再从左边接过一块。
传了七次之后，每个人都见过了所有的苹果；再传七次，每个人都知道一共有多少。
没有人需要站在中间，也没有人比别人更累。这就是环。

Eight children sit in a circle, and each of them holds one piece of an apple.
Everyone passes a piece to the right and takes a piece from the left.
After seven turns every piece has met all the others; after seven more, everyone knows the sum.
Nobody has to stand in the middle, and nobody carries more than the rest. That is a ring.

一张卡不够用的时候，我们把一批数据切成几份，让每张卡各算一份。
算完以后，梯度要加在一起，再除以总的字数，这样走出的一步才和一张卡走出的一样。
如果有一张卡算得慢，别的卡就要等它；如果有一份梯度忘了加，模型就会悄悄走偏。
所以每做一步都要对一次账：谁发了什么，发给了谁，什么时候发的，一共多少字节。

When one card is too slow, we cut the batch and give every card a part of it.
The gradients are added, and divided once by the number of tokens, and the step is the same step.
If one card is late, the others wait. If one part is forgotten, the model drifts without a word.
So we keep the books: who sent what, to whom, at what time, and how many bytes it was.

老师在黑板上画了一条流水线：第一段算完交给第二段，第二段算完交给第三段。
开头和结尾总有人闲着，闲着的时间叫作气泡。把一批数据切得更细，气泡就变小了。
学生问：那切成一万份好不好？老师笑着说：每一份都要搬一次，搬运也要时间。

The teacher draws a line of workers on the board, each handing the work on to the next.
At the start and at the end somebody is idle, and the idle time is called a bubble.
Cut the batch finer and the bubble shrinks, but every piece has to be carried, and carrying takes time.

桶里装满了水才提走，不要一滴一滴地送；但是也不要等所有的桶都满了才动身。
前面的人还在算，后面的桶已经在路上了，路上的时间就藏在计算的时间里。
一台机器里面的路很宽，机器之间的路很窄，走窄路之前先在家里把东西合在一起。

Do not carry water drop by drop, and do not wait until every bucket in the house is full.
While the work goes on in front, the buckets behind are already on their way.
The road inside a house is wide and the road between houses is narrow: add up at home, then travel.

今天的练习：把环里的一步改错，看看模型在哪一步、哪一桶、哪一块开始和大家不一样。
错误不会自己举手，要用数字把它找出来。找到了，就把正确的数写成一条测试。

Today's exercise: break one step of the ring, and find the step, the bucket and the chunk
where the model first differs. A fault does not raise its hand; numbers point at it.
When you have found it, write the right number down as a test.
)";
  return text;
}

}  // namespace ringside
