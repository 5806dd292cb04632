; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr ptr, ptr %".1", i64 0
  %".10" = load ptr, ptr %".9"
  %".11" = getelementptr ptr, ptr %".1", i64 1
  %".12" = load ptr, ptr %".11"
  %".13" = getelementptr ptr, ptr %".1", i64 2
  %".14" = load ptr, ptr %".13"
  %".15" = trunc i64 %".4" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".4" to i32
  %".18" = icmp slt i32 %".17", 0
  %".19" = add i32 %".17", 6
  %".20" = select  i1 %".18", i32 %".19", i32 %".17"
  %".21" = sext i32 %".20" to i64
  %".22" = icmp ult i64 %".21", 6
  %".23" = getelementptr inbounds i32, ptr %".10", i64 %".21"
  %".24" = select  i1 %".22", i64 %".21", i64 0
  %".25" = getelementptr inbounds i32, ptr %".10", i64 %".24"
  %".26" = load i32, ptr %".25", align 4
  %".27" = select  i1 %".22", i32 %".26", i32 2147483648
  %".28" = sext i32 %".27" to i64
  %".29" = sext i32 0 to i64
  %".30" = mul i64 %".29", 16
  %".31" = icmp ule i64 %".28", 9
  %".32" = mul i64 %".28", 16
  %".33" = add i64 %".32", %".30"
  %".34" = getelementptr float, ptr %".12", i64 %".33"
  %".35" = getelementptr i8, ptr %".3", i64 0
  %".36" = xor i1 %".31", -1
  br i1 %".36", label %"then", label %"end"
then:
  %".38" = getelementptr inbounds float, ptr %".35", i64 0
  store <16 x float> splat (float 0x7ff8000000000000), ptr %".38", align 4
  %".40" = icmp slt i64 %".28", 0
  %".41" = sub i64 0, %".28"
  %".42" = select  i1 %".40", i64 %".41", i64 0
  %".43" = sub i64 10, %".28"
  %".44" = icmp slt i64 %".43", 1
  %".45" = select  i1 %".44", i64 %".43", i64 1
  br label %"loop"
end:
  %".90" = select  i1 %".31", ptr %".34", ptr %".35"
  %".91" = trunc i64 %".4" to i32
  %".92" = sext i32 %".91" to i64
  %".93" = sext i32 0 to i64
  %".94" = mul i64 %".93", 16
  %".95" = mul i64 %".92", 16
  %".96" = add i64 %".95", %".94"
  %".97" = getelementptr float, ptr %".14", i64 %".96"
  %".98" = getelementptr inbounds float, ptr %".90", i64 0
  %".99" = load <16 x float>, ptr %".98", align 4
  %".100" = getelementptr inbounds float, ptr %".97", i64 0
  store <16 x float> %".99", ptr %".100", align 4
  ret void
loop:
  %"i" = phi  i64 [%".42", %"then"], [%".87", %"done.2"]
  %".47" = icmp slt i64 %"i", %".45"
  br i1 %".47", label %"body", label %"done"
body:
  %".49" = add i64 %".28", %"i"
  %".50" = icmp slt i64 %".30", 0
  %".51" = sub i64 0, %".30"
  %".52" = select  i1 %".50", i64 %".51", i64 0
  %".53" = sub i64 16, %".30"
  %".54" = icmp slt i64 %".53", 16
  %".55" = select  i1 %".54", i64 %".53", i64 16
  %".56" = icmp sgt i64 %".55", %".52"
  %".57" = sub i64 %".55", %".52"
  %".58" = select  i1 %".56", i64 %".57", i64 0
  %".59" = add i64 %".30", %".52"
  %".60" = and i64 %".58", -16
  br label %"loop.1"
done:
  br label %"end"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".72", %"body.1"]
  %".62" = icmp slt i64 %"i.1", %".60"
  br i1 %".62", label %"body.1", label %"done.1"
body.1:
  %".64" = add i64 %".59", %"i.1"
  %".65" = add i64 %".52", %"i.1"
  %".66" = mul i64 %".49", 16
  %".67" = add i64 %".66", %".64"
  %".68" = getelementptr inbounds float, ptr %".12", i64 %".67"
  %".69" = load <16 x float>, ptr %".68", align 4
  %".70" = getelementptr inbounds float, ptr %".35", i64 %".65"
  store <16 x float> %".69", ptr %".70", align 4
  %".72" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".60", %"done.1"], [%".85", %"body.2"]
  %".75" = icmp slt i64 %"i.2", %".58"
  br i1 %".75", label %"body.2", label %"done.2"
body.2:
  %".77" = add i64 %".59", %"i.2"
  %".78" = add i64 %".52", %"i.2"
  %".79" = mul i64 %".49", 16
  %".80" = add i64 %".79", %".77"
  %".81" = getelementptr inbounds float, ptr %".12", i64 %".80"
  %".82" = load float, ptr %".81", align 4
  %".83" = getelementptr inbounds float, ptr %".35", i64 %".78"
  store float %".82", ptr %".83", align 4
  %".85" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".87" = add i64 %"i", 1
  br label %"loop"
}
